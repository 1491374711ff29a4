"""The door of the backends: from a backend of anyone's to a ``Matrix``.

A backend is a dataclass with ``matrix(X)``. One that is a ``Backend`` gives a ``Matrix``; from any
other comes any object with ``shape``, ``dot(V)`` and ``tdot(U)``, which is adopted here: this is
the only place that asks it what else it can do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uids.backends.backend import Backend
from uids.backends.host import Host, HostMatrix
from uids.backends.matrix import Array, Matrix
from uids.errors import Blame
from uids.registry import REGISTRIES, Chosen, ask


@dataclass(frozen=True)
class AdoptedBackend:
    """A chosen backend."""

    chosen: Chosen

    @property
    def name(self) -> str:
        return self.chosen.name

    def matrix(self, X: Any) -> Matrix:
        """X, of the data set or of a part of it, through the backend."""
        backend = self.chosen.component
        if not isinstance(backend, Backend):
            return AdoptedMatrix(self, Host(X))
        with self.chosen.blame:
            matrix = backend.matrix(X)
        entry = self.chosen.entry
        ours = entry is not None and entry.package == "uids"
        return matrix if ours else GuardedMatrix(matrix, self.chosen.blame)

    def plan(self, X: Any) -> str:
        """Which matrix that would be, and why; nothing is made."""
        backend = self.chosen.component
        with self.chosen.blame:
            return (backend.plan(X) if isinstance(backend, Backend) else "") or self.name


def adopt_backend(backend: Any) -> AdoptedBackend:
    """From Python: a name, a mapping of the name and fields, or an object of the kind."""
    return AdoptedBackend(REGISTRIES["backend"].choose(backend))


def adopt(backend: Any, X: Any) -> Matrix:
    """X through a backend that is named, or any object of the kind."""
    return adopt_backend(backend).matrix(X)


class AdoptedMatrix(HostMatrix):
    """An object with two products, and the rows that it was made from.

    Each product that it has beside those is used in place of the default; what it raises is blamed
    on its backend. The parts of a split and the subsets are copies of rows, each handed to
    ``matrix``, unless the backend has ``views``: then ``rows(index)`` of the whole makes them.
    """

    def __init__(
        self, backend: AdoptedBackend, host: Host, whole: HostMatrix | None = None
    ) -> None:
        super().__init__(host, backend.name)
        self.backend, self.whole = backend, whole
        self.blame: Blame = backend.chosen.blame

    @cached_property
    def products(self) -> Any:
        """Made when it is first needed: the whole of which only parts are used need not be."""
        with self.blame:
            if isinstance(self.whole, AdoptedMatrix):
                return self.whole.products.rows(self.host.index)
            return self.backend.chosen.component.matrix(self.host.X)

    def prepare(self) -> None:
        self.note = str(getattr(self.products, "note", "") or self.note)

    def _asked(self, name: str, default: Callable[..., Any], *arguments: Any) -> Any:
        return ask(self.products, name, self.blame, default, *arguments)

    def dot(self, V: Array) -> Array:
        with self.blame:
            return writable(self.products.dot(V))

    def tdot(self, U: Array) -> Array:
        with self.blame:
            return writable(self.products.tdot(U))

    def gram_dot(self, w: Array, V: Array) -> Array:
        return writable(self._asked("gram_dot", super().gram_dot, w, V))

    def scored_dot(self, w: Array, v: Array) -> tuple[Array, Array]:
        product, scores = self._asked("scored_dot", super().scored_dot, w, v)
        return writable(product), writable(scores)

    def outer_dot(self, u: Array) -> Array:
        return writable(self._asked("outer_dot", super().outer_dot, u))

    def square_tdot(self, W: Array) -> Array:
        return writable(self._asked("square_tdot", super().square_tdot, W))

    def gram(self, w: Array) -> Array:
        return writable(self._asked("gram", super().gram, w))

    def uses_blas(self, columns: int) -> bool:
        return bool(self._asked("uses_blas", super().uses_blas, columns))

    def like(self, X: Any) -> Matrix:
        return AdoptedMatrix(self.backend, Host(X))

    def _rows(self, index: Array) -> Matrix:
        if not getattr(self.backend.chosen.component, "views", False):
            return super()._rows(index)
        return AdoptedMatrix(self.backend, self.host.take(index), self.whole or self)


def writable(array: Any) -> Array:
    """As a numpy array that may be changed in place; some libraries lend theirs read-only."""
    return np.require(array, requirements=["W"])


class GuardedMatrix(Matrix):
    """A matrix of the full kind that is not ours: hands every call on, with the blame for it, and
    its parts are guarded too."""

    def __init__(self, matrix: Matrix, blame: Blame) -> None:
        self.matrix, self.blame = matrix, blame
        with blame:
            self.shape, self.note = matrix.shape, matrix.note

    def dot(self, V: Array) -> Array:
        with self.blame:
            return self.matrix.dot(V)

    def tdot(self, U: Array) -> Array:
        with self.blame:
            return self.matrix.tdot(U)

    def gram_dot(self, w: Array, V: Array) -> Array:
        with self.blame:
            return self.matrix.gram_dot(w, V)

    def scored_dot(self, w: Array, v: Array) -> tuple[Array, Array]:
        with self.blame:
            return self.matrix.scored_dot(w, v)

    def outer_dot(self, u: Array) -> Array:
        with self.blame:
            return self.matrix.outer_dot(u)

    def square_tdot(self, W: Array) -> Array:
        with self.blame:
            return self.matrix.square_tdot(W)

    def gram(self, w: Array) -> Array:
        with self.blame:
            return self.matrix.gram(w)

    def quadratic(self, A: Array) -> Array:
        with self.blame:
            return self.matrix.quadratic(A)

    def outer(self) -> Array:
        with self.blame:
            return self.matrix.outer()

    def row_squares(self) -> Array:
        with self.blame:
            return self.matrix.row_squares()

    @property
    def sparse(self) -> bool:
        with self.blame:
            return self.matrix.sparse

    @property
    def stored(self) -> int:
        with self.blame:
            return self.matrix.stored

    @property
    def all_ones(self) -> bool:
        with self.blame:
            return self.matrix.all_ones

    @property
    def threads(self) -> int:
        with self.blame:
            return self.matrix.threads

    def uses_blas(self, columns: int) -> bool:
        with self.blame:
            return self.matrix.uses_blas(columns)

    def fingerprint(self) -> str:
        with self.blame:
            return self.matrix.fingerprint()

    def _rows(self, index: Array) -> Matrix:
        with self.blame:
            return GuardedMatrix(self.matrix.rows(index), self.blame)

    def columns(self, index: Array) -> Matrix:
        with self.blame:
            return GuardedMatrix(self.matrix.columns(index), self.blame)

    def like(self, X: Any) -> Matrix:
        with self.blame:
            return GuardedMatrix(self.matrix.like(X), self.blame)

    def fetch(self) -> Any:
        with self.blame:
            return self.matrix.fetch()

    def prepare(self) -> None:
        with self.blame:
            self.matrix.prepare()
            self.note = self.matrix.note
