"""A matrix of the full kind that another package's backend made."""

from __future__ import annotations

from typing import Any

from uids.backends.guard import Guard, Looks
from uids.backends.handed import handed
from uids.backends.matrix import Array, Matrix


class GuardedMatrix(Matrix):
    """A matrix of the full kind that is not ours: hands every call on, with the blame for it, and
    its parts are guarded too."""

    def __init__(self, matrix: Matrix, guard: Guard) -> None:
        self.matrix, self.guard, self.blame = matrix, guard, guard.blame
        self.looks = Looks(guard)
        with self.blame:
            self.shape, self.note = matrix.shape, matrix.note

    def dot(self, V: Array) -> Array:
        self.guard.try_once(self)
        with self.blame:
            product = self.matrix.dot(V)
        return self.looks.at(product, V, (self.shape[0], *V.shape[1:]), "X V")

    def tdot(self, U: Array) -> Array:
        self.guard.try_once(self)
        with self.blame:
            product = self.matrix.tdot(U)
        return self.looks.at(product, U, (self.shape[1], *U.shape[1:]), "Xᵀ U")

    def gram_dot(self, w: Array, V: Array) -> Array:
        self.guard.try_once(self)
        with self.blame:
            product = self.matrix.gram_dot(w, V)
        return self.looks.at(product, V, V.shape, "Xᵀ (w ∘ X V)")

    def scored_dot(self, w: Array, v: Array) -> tuple[Array, Array]:
        self.guard.try_once(self)
        with self.blame:
            product, scores = self.matrix.scored_dot(w, v)
        product = self.looks.at(product, v, v.shape, "Xᵀ (w ∘ X v)")
        return product, self.looks.at(scores, v, self.shape[:1], "X v")

    def class_dot(
        self, P: Array, w: Array | None, V: Array, shift: Array | None = None
    ) -> tuple[Array, Array | None]:
        self.guard.try_once(self)
        with self.blame:
            product, sums = self.matrix.class_dot(P, w, V, shift)
        product = self.looks.at(product, V, V.shape, "Xᵀ (W (X V))")
        if shift is not None:
            sums = self.looks.at(sums, V, shift.shape, "the sums of W (X V)")
        return product, sums

    def hold(self, values: Array) -> Any:
        with self.blame:
            return self.matrix.hold(values)

    def outer_dot(self, u: Array) -> Array:
        if u.ndim > 1:
            return super().outer_dot(u)  # of one vector it is asked for
        self.guard.try_once(self)
        with self.blame:
            product = self.matrix.outer_dot(u)
        return self.looks.at(product, u, u.shape, "X Xᵀ u")

    def frequent(self) -> Array:
        with self.blame:
            columns = self.matrix.frequent()
            shape = (self.shape[0], columns.shape[1])
        return handed(columns, shape, "frequent columns", self.blame)

    def square_tdot(self, W: Array) -> Array:
        self.guard.try_once(self)
        with self.blame:
            product = self.matrix.square_tdot(W)
        return self.looks.at(product, W, (self.shape[1], *W.shape[1:]), "(X ∘ X)ᵀ W")

    def gram(self, w: Array) -> Array:
        self.guard.try_once(self)
        with self.blame:
            product = self.matrix.gram(w)
        return self.looks.at(product, w, (self.shape[1], self.shape[1]), "Xᵀ diag(w) X")

    def quadratic(self, A: Array) -> Array:
        self.guard.try_once(self)
        with self.blame:
            product = self.matrix.quadratic(A)
        return self.looks.at(product, A, self.shape[:1], "x_iᵀ A x_i")

    def outer(self) -> Array:
        with self.blame:
            product = self.matrix.outer()
        return handed(product, (self.shape[0], self.shape[0]), "X Xᵀ", self.blame)

    def row_squares(self) -> Array:
        with self.blame:
            squares = self.matrix.row_squares()
        return handed(squares, self.shape[:1], "‖x_i‖²", self.blame)

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
            return GuardedMatrix(self.matrix.rows(index), self.guard)

    def columns(self, index: Array) -> Matrix:
        with self.blame:
            return GuardedMatrix(self.matrix.columns(index), self.guard)

    def like(self, X: object) -> Matrix:
        with self.blame:
            return GuardedMatrix(self.matrix.like(X), self.guard)

    def fetch(self) -> Any:
        with self.blame:
            return self.matrix.fetch()

    def prepare(self, trial: bool = True) -> None:
        with self.blame:
            self.matrix.prepare()
            self.note = self.matrix.note
        if trial:
            self.guard.try_once(self)
