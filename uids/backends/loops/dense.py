"""Products with a dense matrix, for the backend numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from uids.backends.dense_blocks import DenseBlocks
from uids.backends.host import Host, blocks
from uids.backends.loops.kernels import dense as k
from uids.backends.loops.scratch import readonly
from uids.backends.loops.threaded import Share, Threaded
from uids.backends.matrix import Array, Change, Matrix
from uids.system.tuning import LOOPS, Loops


class DenseMatrix(Threaded):
    """One vector by loops that read each row once; several by BLAS, a block of rows at a time, and
    so too where the rows of X do not lie in memory one after the other.

    A processor guesses what is read next and brings it in, within a page. Where X is not in the
    cache and its rows are shorter than that, a Hessian product prefetches the next rows itself."""

    def __init__(self, X: Any, threads: int, single: bool, tuning: Loops = LOOPS) -> None:
        X = np.asarray(X)
        self.X = readonly(X.astype(np.float32, copy=False) if single else X)
        super().__init__(Host(X), threads, f"dense {self.X.dtype}")
        self.single, self.tuning = single, tuning
        short = self.X[:1].nbytes <= tuning.prefetch_row
        self.ahead = self.X.nbytes >= tuning.prefetch_bytes and short

    def like(self, X: Any) -> Matrix:
        return DenseMatrix(X, self.threads, self.single, self.tuning)

    def uses_blas(self, columns: int) -> bool:
        return False

    def count(self) -> int:
        return self.shape[0] * self.shape[1]

    def cut(self, threads: int) -> Array:
        return np.linspace(0, self.shape[0], threads + 1)

    def by_rows(self, V: Array) -> bool:
        return V.ndim == 1 and self.X.flags.c_contiguous

    def dot(self, V: Array) -> Array:
        V = self.checked("V", V, self.shape[1])
        if self.by_rows(V):
            out = np.empty(self.shape[0])
            self.each(lambda first, last: k.dense_dot(self.X, self.listed, first, last, V, out))
            return out
        return self.in_blocks.dot(V)

    def tdot(self, U: Array) -> Array:
        return self._tdot(U, None)

    def square_tdot(self, W: Array) -> Array:
        return self._tdot(W, True)

    def _tdot(self, U: Array, square: bool | None) -> Array:
        U = self.checked("U", U, self.shape[0])
        if not self.by_rows(U):
            return self.in_blocks.tdot(U, bool(square))

        def add(s: Share) -> None:
            k.dense_tdot(self.X, self.listed, s.first, s.last, U, s.sums.reshape(-1), square)

        return self.sum(np.zeros(self.shape[1]), add)

    def gram_dot(self, w: Array, V: Array) -> Array:
        w, V = self.checked("w", w, self.shape[0]), self.checked("V", V, self.shape[1])
        if self.by_rows(V):
            return self._gram_dot(w, V, None)
        wide = V.reshape(len(V), -1)

        def weigh(U: Array, rows: slice) -> None:
            U *= w[rows, None]

        return self.map_dot(wide, weigh).reshape(V.shape)

    def map_dot(self, V: Array, change: Change) -> Array:
        V = self.checked("V", V, self.shape[1]) if V.dtype != np.float32 else V
        return self.in_blocks.map_dot(V, change)

    @property
    def rough(self) -> bool:
        return True

    @property
    def in_blocks(self) -> DenseBlocks:
        cuts = self.ranges(self.threads).astype(np.int64).tolist()
        return DenseBlocks(self.X, self.host.index, cuts, self.tuning)

    def _gram_dot(self, w: Array, v: Array, scores: Array | None) -> Array:
        def add(s: Share) -> None:
            sums = s.sums.reshape(-1)
            k.dense_gram_dot(self.X, self.listed, s.first, s.last, w, v, sums, scores, self.ahead)

        return self.sum(np.zeros(v.shape), add)

    def scored_dot(self, w: Array, v: Array) -> tuple[Array, Array]:
        w, v = self.checked("w", w, self.shape[0]), self.checked("v", v, self.shape[1])
        if not self.by_rows(v):
            scores = self.dot(v)
            return self.tdot(w * scores), scores
        scores = np.zeros(self.shape[0])
        return self._gram_dot(w, v, scores), scores

    def gram(self, w: Array) -> Array:
        w = self.checked("w", w, self.shape[0])
        out = np.zeros((self.shape[1], self.shape[1]))
        for start, block in blocks(self.X, self.host.index):
            out += block.T @ (block * w[start : start + len(block), None])
        return out
