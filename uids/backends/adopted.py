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

from uids.backends.backend import Backend
from uids.backends.guard import Guard, Looks
from uids.backends.guarded import GuardedMatrix
from uids.backends.host import Host, HostMatrix, untouchable
from uids.backends.matrix import Array, Matrix
from uids.datasets.elsewhere import Elsewhere
from uids.errors import UidsError
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
        self.refuse(X)
        backend = self.chosen.component
        if not isinstance(backend, Backend):
            return AdoptedMatrix(self, Host(X))
        with self.chosen.blame:
            matrix = backend.matrix(X if self.guard.blame.trusted else untouchable(X))
        return matrix if self.guard.blame.trusted else GuardedMatrix(matrix, self.guard)

    def settled(self, X: object) -> AdoptedBackend:
        """What has a choice has made it, by the X that has the training rows."""
        self.refuse(X)
        backend = self.chosen.component
        if not isinstance(backend, Backend):
            return self
        with self.chosen.blame:
            return AdoptedBackend(self.chosen.replaced(backend.settled(X)))

    def refuse(self, X: object) -> None:
        """What lies elsewhere, unless this backend takes it."""
        if not isinstance(X, Elsewhere):
            return
        backend = self.chosen.component
        with self.chosen.blame:
            taken = isinstance(backend, Backend) and backend.takes(X)
        if not taken:
            raise UidsError(
                f"the rows lie {X.where}, and backend {self.name!r} does not take them: use "
                f"backend={X.backend}"
            )

    @cached_property
    def guard(self) -> Guard:
        return Guard(self.chosen.blame)

    def plan(self, X: Any) -> str:
        """Which matrix that would be, and why; nothing is made."""
        self.refuse(X)
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
        self.guard, self.blame = backend.guard, backend.guard.blame
        self.looks = Looks(self.guard)

    @cached_property
    def products(self) -> Any:
        """Made when it is first needed: the whole of which only parts are used need not be."""
        with self.blame:
            if isinstance(self.whole, AdoptedMatrix):
                made = self.whole.products.rows(self.host.index)
            else:
                made = self.backend.chosen.component.matrix(untouchable(self.host.X))
            self.guard.check_shape(made.shape, self.shape)
        return made

    def prepare(self, trial: bool = True) -> None:
        if trial:
            self.guard.try_once(self, self._brings)
        self.note = str(getattr(self.products, "note", "") or self.note)

    def _brings(self, name: str) -> bool:
        """Whether a product is the backend's own."""
        return callable(getattr(self.products, name, None))

    def _asked(self, name: str, default: Callable[..., Any], *arguments: Any) -> Any:
        self.guard.try_once(self, self._brings)
        return ask(self.products, name, self.blame, default, *arguments)

    def dot(self, V: Array) -> Array:
        self.guard.try_once(self, self._brings)
        with self.blame:
            product = self.products.dot(V)
        return self.looks.at(product, V, (self.shape[0], *V.shape[1:]), "X V")

    def tdot(self, U: Array) -> Array:
        self.guard.try_once(self, self._brings)
        with self.blame:
            product = self.products.tdot(U)
        return self.looks.at(product, U, (self.shape[1], *U.shape[1:]), "Xᵀ U")

    def gram_dot(self, w: Array, V: Array) -> Array:
        if not self._brings("gram_dot"):
            return super().gram_dot(w, V)  # of two products that are looked at
        self.guard.try_once(self, self._brings)
        with self.blame:
            product = self.products.gram_dot(w, V)
        return self.looks.at(product, V, V.shape, "Xᵀ (w ∘ X V)")

    def scored_dot(self, w: Array, v: Array) -> tuple[Array, Array]:
        with self.blame:
            product, scores = self._asked("scored_dot", super().scored_dot, w, v)
        product = self.looks.at(product, v, v.shape, "Xᵀ (w ∘ X v)")
        return product, self.looks.at(scores, v, w.shape, "X v")

    def outer_dot(self, u: Array) -> Array:
        if u.ndim > 1:
            return super().outer_dot(u)  # of one vector it is asked for
        product = self._asked("outer_dot", super().outer_dot, u)
        return self.looks.at(product, u, u.shape, "X Xᵀ u")

    def square_tdot(self, W: Array) -> Array:
        if not self._brings("square_tdot"):
            return super().square_tdot(W)  # of rows in this process
        product = self._asked("square_tdot", super().square_tdot, W)
        return self.looks.at(product, W, (self.shape[1], *W.shape[1:]), "(X ∘ X)ᵀ W")

    def gram(self, w: Array) -> Array:
        if not self._brings("gram"):
            return super().gram(w)  # of rows in this process
        product = self._asked("gram", super().gram, w)
        return self.looks.at(product, w, (self.shape[1], self.shape[1]), "Xᵀ diag(w) X")

    def uses_blas(self, columns: int) -> bool:
        return bool(self._asked("uses_blas", super().uses_blas, columns))

    def like(self, X: Any) -> Matrix:
        return AdoptedMatrix(self.backend, Host(X))

    def _rows(self, index: Array) -> Matrix:
        if not getattr(self.backend.chosen.component, "views", False):
            return super()._rows(index)
        return AdoptedMatrix(self.backend, self.host.take(index), self.whole or self)
