"""One matrix under another, each where it lies."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from uids.backends.host import HostMatrix
from uids.backends.matrix import Array, Matrix


def stack(first: Matrix, second: Matrix) -> Matrix:
    """The rows of ``first`` and, below them, of ``second``: a view where both are of one matrix."""
    whole = whole_of(first)
    if whole is not None and whole is whole_of(second):
        return whole.rows(np.concatenate([index_of(first), index_of(second)]))
    return Stacked(first, second)


def whole_of(X: Matrix) -> Matrix | None:
    """The matrix of which X is a view."""
    return X.whole if isinstance(X, HostMatrix) else None


def index_of(X: Matrix) -> Array:
    assert isinstance(X, HostMatrix)
    assert X.host.index is not None
    return X.host.index


class Halves(NamedTuple):
    """Numbers of the rows, as each of the two matrices holds them."""

    first: Array
    second: Array


class Stacked(Matrix):
    """No copy of X, unless somebody fetches it."""

    def __init__(self, first: Matrix, second: Matrix) -> None:
        self.first, self.second = first, second
        self.note = first.note
        self.cut = first.shape[0]
        self.shape = (self.cut + second.shape[0], first.shape[1])

    def dot(self, V: Array) -> Array:
        return np.concatenate([self.first.dot(V), self.second.dot(V)])

    def tdot(self, U: Array) -> Array:
        return self.first.tdot(U[: self.cut]) + self.second.tdot(U[self.cut :])

    def gram_dot(self, w: Array, V: Array) -> Array:
        upper, lower = self.halves(w)
        return self.first.gram_dot(upper, V) + self.second.gram_dot(lower, V)

    def scored_dot(self, w: Array, v: Array) -> tuple[Array, Array]:
        upper, lower = self.halves(w)
        (one, scores), (two, others) = (
            self.first.scored_dot(upper, v),
            self.second.scored_dot(lower, v),
        )
        return one + two, np.concatenate([scores, others])

    def class_dot(
        self, P: Array, w: Array | None, V: Array, shift: Array | None = None
    ) -> tuple[Array, Array | None]:
        upper, lower = self.halves(P)
        above, below = (None, None) if w is None else self.halves(w)
        one, sums = self.first.class_dot(upper, above, V, shift)
        two, others = self.second.class_dot(lower, below, V, shift)
        return one + two, None if sums is None or others is None else sums + others

    def halves(self, values: Array | Halves) -> Halves:
        if isinstance(values, Halves):
            return values
        return Halves(values[: self.cut], values[self.cut :])

    def hold(self, values: Array) -> Any:
        upper, lower = self.halves(values)
        return Halves(self.first.hold(upper), self.second.hold(lower))

    def square_tdot(self, W: Array) -> Array:
        return self.first.square_tdot(W[: self.cut]) + self.second.square_tdot(W[self.cut :])

    def gram(self, w: Array) -> Array:
        return self.first.gram(w[: self.cut]) + self.second.gram(w[self.cut :])

    def quadratic(self, A: Array) -> Array:
        return np.concatenate([self.first.quadratic(A), self.second.quadratic(A)])

    def row_squares(self) -> Array:
        return np.concatenate([self.first.row_squares(), self.second.row_squares()])

    @property
    def sparse(self) -> bool:
        return self.first.sparse

    @property
    def stored(self) -> int:
        return self.first.stored + self.second.stored

    @property
    def all_ones(self) -> bool:
        return self.first.all_ones and self.second.all_ones

    @property
    def threads(self) -> int:
        return self.first.threads

    def uses_blas(self, columns: int) -> bool:
        return self.first.uses_blas(columns)

    def fingerprint(self) -> str:
        both = self.first.fingerprint() + self.second.fingerprint()
        return hashlib.sha256(both.encode()).hexdigest()

    def _rows(self, index: Array) -> Matrix:
        above = index < self.cut
        if (above[1:] <= above[:-1]).all():  # none of the second comes before one of the first
            upper, lower = index[above], index[~above] - self.cut
            return Stacked(self.first.rows(upper), self.second.rows(lower))
        order = np.argsort(~above, kind="stable")
        return self.like(self._rows(index[order]).fetch()[np.argsort(order)])

    def columns(self, index: Array) -> Matrix:
        return Stacked(self.first.columns(index), self.second.columns(index))

    def like(self, X: Any) -> Matrix:
        return self.first.like(X)

    def fetch(self) -> Any:
        both = [self.first.fetch(), self.second.fetch()]
        return sp.vstack(both, format="csr") if self.sparse else np.vstack(both)

    def prepare(self, trial: bool = True) -> None:
        self.first.prepare(trial)
        self.second.prepare(trial)
