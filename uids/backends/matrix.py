"""X as the other rooms see it: products, facts of its rows, and parts of it.

Where X lies (in this process, on a device, in files, on other machines) is the matrix's own affair.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from uids.system.threads import on_threads, one_blas_thread
from uids.system.tuning import BLOCK_BYTES

Array = npt.NDArray[Any]
Change = Callable[[Array, slice], None]
DENSE_NUMBERS = 2**22  # of rows that are made dense together
SPARSE_SHARE = 0.1  # stored, up to which products of sparse rows are quicker than of dense ones


class Matrix(ABC):
    """X, of shape (n, d), seen through a backend. Vectors are numpy arrays of float64.

    | product                | meaning           | shapes                    |
    |------------------------|-------------------|---------------------------|
    | ``dot(V)``             | X V               | (d,) or (d, k) → (n, …)   |
    | ``tdot(U)``            | Xᵀ U              | (n,) or (n, k) → (d, …)   |
    | ``gram_dot(w, V)``     | Xᵀ (w ∘ (X V))    | (n,), (d, k) → (d, k)     |
    | ``scored_dot(w, v)``   | that, and X v     | (n,), (d,) → (d,), (n,)   |
    | ``map_dot(V, change)`` | Xᵀ f(X V)         | (d, k) → (d, k)           |
    | ``class_dot(P, w, V)`` | Xᵀ (W (X V))      | (n, k), (d, k m) → (d, …) |
    | ``outer_dot(u)``       | X Xᵀ u            | (n,) or (n, k) → (n, …)   |
    | ``frequent()``         | some columns of X | → (n, m)                  |
    | ``square_tdot(W)``     | (X ∘ X)ᵀ W        | (n,) or (n, k) → (d, …)   |
    | ``gram(w)``            | Xᵀ diag(w) X      | (n,) → (d, d)             |
    | ``quadratic(A)``       | x_iᵀ A x_i        | (d, d) → (n,)             |
    | ``outer()``            | X Xᵀ              | → (n, n)                  |
    | ``row_squares()``      | ‖x_i‖²            | → (n,)                    |

    The first two are required, and so are parts of it: ``_rows``, ``like`` and ``fetch``. All
    others have a default on top of these. What is handed out may be changed in place by whoever
    gets it.
    """

    shape: tuple[int, int]
    note: str  # what the metrics say of the backend

    @abstractmethod
    def dot(self, V: Array) -> Array: ...

    @abstractmethod
    def tdot(self, U: Array) -> Array: ...

    def gram_dot(self, w: Array, V: Array) -> Array:
        U = self.dot(V)
        U *= w if U.ndim == 1 else w[:, None]
        return self.tdot(U)

    def scored_dot(self, w: Array, v: Array) -> tuple[Array, Array]:
        scores = self.dot(v)
        return self.tdot(w * scores), scores

    def map_dot(self, V: Array, change: Change) -> Array:
        """Xᵀ f(X V) for an f that goes row by row: ``change(U, rows)`` makes f(U) of U, (rows, k),
        in place, for all rows or some, and may be called by several threads. For V in float32 see
        ``rough``."""
        one = V.shape[1] == 1  # as a vector: the loops for several take three times as long
        U = np.ascontiguousarray(self.dot(V[:, 0])[:, None] if one else self.dot(V))
        change(U, slice(0, len(U)))
        return self.tdot(U[:, 0])[:, None] if one else self.tdot(U)

    def class_dot(
        self, P: Array, w: Array | None, V: Array, shift: Array | None = None
    ) -> tuple[Array, Array | None]:
        """Xᵀ R and, where there is a ``shift``, the sums of R over the rows, (k m,). Of each row
        R_i = w_i (diag(P_i) − P_i P_iᵀ) (x_iᵀ V + shift), where x_iᵀ V is (k, m)."""
        sums: dict[int, Array] = {}

        def weigh(U: Array, rows: slice) -> None:
            if shift is not None:
                U += shift
            weigh_classes(U, P[rows], None if w is None else w[rows])
            if shift is not None:
                sums[rows.start] = U.sum(axis=0)

        product = self.map_dot(V, weigh)
        if shift is None:
            return product, None
        return product, np.asarray(sum(sums[start] for start in sorted(sums)))

    def hold(self, values: Array) -> Any:
        """A number or several for each row, (n,) or (n, k), in a form that ``gram_dot``,
        ``scored_dot`` and ``class_dot`` take as w or P: for what is given to many products and does
        not change in between. Where the rows lie elsewhere it is sent there once."""
        return values

    def outer_dot(self, u: Array) -> Array:
        return self.dot(self.tdot(u))

    def frequent(self) -> Array:
        """Of sparse X some columns that a good part of the rows have, dense, (n, m), not to be
        changed; none where they cannot be had at a small price."""
        return np.zeros((self.shape[0], 0))

    def square_tdot(self, W: Array) -> Array:
        total = np.zeros((self.shape[1], *W.shape[1:]))
        for start, block in self._blocks():
            square = block.copy() if self.sparse else block * block
            if self.sparse:
                square.data *= square.data
            total += square.T @ W[start : start + block.shape[0]]
        return total

    def gram(self, w: Array) -> Array:
        total = np.zeros((self.shape[1], self.shape[1]))
        for start, block in self._blocks():
            weight = w[start : start + block.shape[0], None]
            if self.sparse:
                total += (block.T @ block.multiply(weight)).toarray()
            else:
                total += block.T @ (block * weight)
        return total

    def quadratic(self, A: Array) -> Array:
        n, threads = self.shape[0], self.threads
        forms, cuts = np.empty(n), np.linspace(0, n, threads + 1).astype(np.int64)
        height = max(1, DENSE_NUMBERS // threads // max(1, self.shape[1]))

        def part(t: int) -> None:
            out = forms[cuts[t] : cuts[t + 1]]
            for start, block in self.rows(np.arange(cuts[t], cuts[t + 1]))._blocks(height):
                # A row of few entries meets few rows of A, which is more than BLAS could win back.
                few = self.sparse and block.nnz <= SPARSE_SHARE * block.shape[0] * block.shape[1]
                if few:
                    form = np.asarray(block.multiply(block @ A).sum(axis=1)).ravel()
                else:
                    dense = block.toarray() if self.sparse else block
                    form = np.einsum("ij,ij->i", dense @ A, dense)
                out[start : start + block.shape[0]] = form

        with one_blas_thread(threads > 1):
            on_threads(part, threads)
        return forms

    def outer(self) -> Array:
        """For few rows: it is n × n, and they are fetched."""
        products = np.empty((self.shape[0], self.shape[0]))
        if not self.sparse:
            X = self.fetch().astype(np.float64, copy=False)
            return np.asarray(np.matmul(X, X.T, out=products))
        transposed = self.fetch().astype(np.float64, copy=False).T.tocsr()
        for start, block in self._blocks(max(1, DENSE_NUMBERS // max(1, self.shape[0]))):
            products[start : start + block.shape[0]] = (block @ transposed).toarray()
        return products

    def row_squares(self) -> Array:
        squares = np.empty(self.shape[0])
        for start, block in self._blocks():
            if self.sparse:
                part = np.asarray(block.multiply(block).sum(axis=1)).ravel()
            else:
                part = np.einsum("ij,ij->i", block, block)
            squares[start : start + block.shape[0]] = part
        return squares

    def _blocks(self, height: int | None = None) -> Iterator[tuple[int, Any]]:
        """(first row, rows in float64 in this process), so many at a time or within BLOCK_BYTES: no
        second X is ever made."""
        n = self.shape[0]
        height = height or max(1, BLOCK_BYTES // (8 * max(1, self.stored // max(1, n))))
        for start in range(0, n, height):
            rows = self.rows(np.arange(start, min(n, start + height)))
            yield start, rows.fetch().astype(np.float64, copy=False)

    # Facts of these rows, by which the quicker of two ways is chosen.

    @property
    def sparse(self) -> bool:
        """Whether only some of the entries are stored."""
        return False

    @property
    def stored(self) -> int:
        """Entries that are stored in these rows."""
        return self.shape[0] * self.shape[1]

    @property
    def all_ones(self) -> bool:
        """Whether every stored value is 1; false where that is not known."""
        return False

    @property
    def threads(self) -> int:
        """Threads of the backend's own, on which other work on the rows may go too."""
        return 1

    @property
    def rough(self) -> bool:
        """Whether ``map_dot`` and ``class_dot`` of V in float32 are made in float32, to six digits
        or so, and take less time."""
        return False

    def uses_blas(self, columns: int) -> bool:
        """Whether products with that many columns are by BLAS, which then needs its threads."""
        return True

    def fingerprint(self) -> str:
        """The same for the same rows, and another for any others."""
        seen = hashlib.sha256(repr(self.shape).encode())
        for _, block in self._blocks():
            arrays = (block.data, block.indices, block.indptr) if self.sparse else (block,)
            for array in arrays:
                seen.update(np.ascontiguousarray(array).view(np.uint8).data)
        return seen.hexdigest()

    # Parts.

    def rows(self, index: Array) -> Matrix:
        """Those rows, by a mask or by positions; all of them in order are the matrix itself."""
        n = self.shape[0]
        index = positions(index, n)
        if len(index) == n and np.array_equal(index, np.arange(n)):
            return self
        return self._rows(index)

    @abstractmethod
    def _rows(self, index: Array) -> Matrix: ...

    def columns(self, index: Array) -> Matrix:
        """Those columns, by their positions."""
        return self.like(self.fetch()[:, index])

    @abstractmethod
    def like(self, X: Any) -> Matrix:
        """A matrix of the same backend, of an array or a CSR matrix in this process."""

    @abstractmethod
    def fetch(self) -> Any:
        """The rows in this process, as a numpy array or a scipy CSR matrix, not to be changed. For
        few rows, or for a library that can use nothing else."""

    def prepare(self, trial: bool = True) -> None:
        """Whatever is needed for products, now rather than at the first of them: what cannot be
        made is then told at once. ``trial``: products of another package are tried, too."""
        return None


def weigh_classes(U: Array, P: Array, w: Array | None) -> None:
    """w_i (diag(P_i) − P_i P_iᵀ) U_i for each row, in place; U is (n, k m)."""
    each = U.reshape(*P.shape, -1)
    each -= np.einsum("ik,ikm->im", P, each)[:, None]
    each *= P[:, :, None]
    if w is not None:
        each *= w[:, None, None]


def positions(index: Array, n: int) -> Array:
    """A mask or positions, from the end where they are negative, as positions in 0..n−1."""
    index = np.asarray(index)
    if index.dtype == bool:
        if len(index) != n:
            raise IndexError(f"a mask of {len(index)} rows for a matrix that has {n}")
        return np.flatnonzero(index)
    index = index.astype(np.int64, copy=False)
    if len(index):  # a compiled loop does not look: it would read foreign memory
        low, high = int(index.min()), int(index.max())
        if low < -n or high >= n:
            raise IndexError(f"rows {low} to {high} of a matrix that has {n}")
        index = index % n if low < 0 else index
    return index
