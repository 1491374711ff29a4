"""Products of a dense X with several vectors, some rows at a time, each on one thread of BLAS's.

A block stays in the cache from one product to the next, and X goes through memory once for both.
And a small product is another one to BLAS: it reads the block as it lies, where it copies a large
one first, for nothing where the vectors are few. Measured with 20,000 × 784 and ten vectors: 18 ms
for X and Xᵀ together, in place of 51.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from uids.backends.matrix import Array, Change
from uids.system.threads import on_threads, one_blas_thread
from uids.system.tuning import LOOPS, Loops

Work = Callable[[int, slice, Array], None]  # (thread, rows, X of these rows)


class DenseBlocks:
    """Rows of X, all or those in ``index``, in ranges for the threads between ``cuts``."""

    def __init__(
        self, X: Array, index: Array | None, cuts: list[int], tuning: Loops = LOOPS
    ) -> None:
        self.X, self.index, self.cuts, self.tuning = X, index, cuts, tuning
        self.rows, self.threads = cuts[-1], len(cuts) - 1

    def dot(self, V: Array) -> Array:
        out = np.empty((self.rows, *V.shape[1:]))

        def multiply(_: int, rows: slice, X: Array) -> None:
            np.matmul(X, V, out=out[rows])

        self.each(V, multiply)
        return out

    def tdot(self, U: Array, square: bool = False) -> Array:
        sums = np.zeros((self.threads, self.X.shape[1], *U.shape[1:]))

        def multiply(t: int, rows: slice, X: Array) -> None:
            sums[t] += (X * X if square else X).T @ U[rows]

        self.each(U, multiply)
        return np.asarray(sums.sum(axis=0))

    def map_dot(self, V: Array, change: Change) -> Array:
        """In the precision of V: in float32 the products take half of the time, and X a copy of a
        block at a time."""
        sums = np.zeros((self.threads, *V.shape))

        def multiply(t: int, rows: slice, X: Array) -> None:
            U = np.ascontiguousarray(X @ V)
            change(U, rows)
            sums[t] += X.T @ U

        self.each(V, multiply, single=V.dtype == np.float32)
        return np.asarray(sums.sum(axis=0))

    def each(self, vectors: Array, work: Work, single: bool = False) -> None:
        columns = self.X.shape[1]
        height = max(1, self.tuning.mapped_numbers // max(1, columns))
        height = min(height, small_height(columns, vectors[:1].size, self.tuning) or height)
        height *= 1 + single  # as many bytes
        dtype = np.float32 if single else np.float64

        def on_thread(t: int) -> None:
            # Each thread has its own. Whoever takes float32 looks whether that was enough.
            with np.errstate(all="ignore" if single else None):
                for first in range(self.cuts[t], self.cuts[t + 1], height):
                    rows = slice(first, min(first + height, self.cuts[t + 1]))
                    X = self.X[rows if self.index is None else self.index[rows]]
                    work(t, rows, X.astype(dtype, copy=False))

        with one_blas_thread(True):
            on_threads(on_thread, self.threads)


def small_height(columns: int, vectors: int, tuning: Loops = LOOPS) -> int:
    """Rows whose product with so many vectors is a small one to BLAS; 0 where it would be of too
    few rows, and the vectors are enough for a copy to pay."""
    height = tuning.mapped_work // max(1, columns * vectors)
    return height if height >= tuning.mapped_rows else 0
