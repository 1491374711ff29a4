"""numpy for dense matrices, scipy for sparse ones: the two products, and forms of X that pay."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uids.backends.backend import Backend
from uids.backends.dense_blocks import DenseBlocks, small_height
from uids.backends.folded import Folded
from uids.backends.frequent import ENTRY
from uids.backends.host import Host, HostMatrix, blocks
from uids.backends.matrix import Array, Change, Matrix
from uids.system.memory import memory
from uids.system.threads import blas_threads
from uids.system.tuning import LOOPS, SMALL_ENTRIES

PATIENCE = 1  # products X Xᵀ U, after which the form that is made for them pays


@dataclass(frozen=True)
class Numpy(Backend):
    """The backend that is always there, and the one that others are measured against."""

    def matrix(self, X: Any) -> NumpyMatrix:
        return NumpyMatrix(X)


class NumpyMatrix(HostMatrix):
    def __init__(self, X: Any) -> None:
        super().__init__(Host(X), "numpy")
        self.outer_products = 0  # made so far

    @cached_property
    def X(self) -> Any:
        """In float64 once, if it is small, and not at each product."""
        small = self.host.stored <= SMALL_ENTRIES
        return self.host.X.astype(np.float64, copy=False) if small else self.host.X

    def uses_blas(self, columns: int) -> bool:
        return not self.sparse

    def dot(self, V: Array) -> Array:
        if self.several(V):
            return self.in_blocks(V).dot(V)
        if self.X.dtype == V.dtype:
            return np.asarray(self.X @ V)
        # numpy would first make a float64 copy of a float32 X: do that block by block.
        result = np.empty((self.shape[0], *V.shape[1:]))
        for start, block in blocks(self.X):
            result[start : start + block.shape[0]] = block @ V
        return result

    def tdot(self, U: Array) -> Array:
        if self.several(U):
            return self.in_blocks(U).tdot(U)
        if self.X.dtype == U.dtype:
            return np.asarray(self.X.T @ U)
        result = np.zeros((self.shape[1], *U.shape[1:]))
        for start, block in blocks(self.X):
            result += block.T @ U[start : start + block.shape[0]]
        return result

    @property
    def rough(self) -> bool:
        return not self.sparse and self.X.flags.c_contiguous

    def map_dot(self, V: Array, change: Change) -> Array:
        if self.several(V):
            return self.in_blocks(V).map_dot(V, change)
        return super().map_dot(V.astype(np.float64, copy=False), change)

    def square_tdot(self, W: Array) -> Array:
        if self.several(W):
            return self.in_blocks(W).tdot(W, square=True)
        return super().square_tdot(W)

    def outer_dot(self, u: Array) -> Array:
        if u.ndim == 1 or not self.sparse:
            return super().outer_dot(u)
        self.outer_products += 1
        fits = self.stored * ENTRY <= memory() / LOOPS.memory_share
        pays = self.outer_products > PATIENCE and fits
        return self._folded.outer_dot(u) if pays else super().outer_dot(u)

    @cached_property
    def _folded(self) -> Folded:
        return Folded(self.X)

    def several(self, V: Array) -> bool:
        """Whether these are several vectors, for which a dense X goes by blocks."""
        few = V.ndim == 2 and V.shape[1] > 1 and not self.sparse and self.X.flags.c_contiguous
        return bool(few and small_height(self.shape[1], V.shape[1]))

    def in_blocks(self, V: Array) -> DenseBlocks:
        work = float(self.X.size) * V.shape[1]
        threads = int(np.clip(work / LOOPS.mapped_thread, 1, blas_threads()))
        cuts = np.linspace(0, self.shape[0], threads + 1).astype(np.int64)
        return DenseBlocks(self.X, None, cuts.tolist())

    def like(self, X: Any) -> Matrix:
        return NumpyMatrix(X)
