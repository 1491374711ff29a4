"""numpy for dense matrices, scipy for sparse ones: no more than the two products."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uids.backends.backend import Backend
from uids.backends.host import Host, HostMatrix, blocks
from uids.backends.matrix import Array, Matrix
from uids.system.tuning import SMALL_ENTRIES


@dataclass(frozen=True)
class Numpy(Backend):
    """The backend that is always there, and the one that others are measured against."""

    def matrix(self, X: Any) -> NumpyMatrix:
        return NumpyMatrix(X)


class NumpyMatrix(HostMatrix):
    def __init__(self, X: Any) -> None:
        super().__init__(Host(X), "numpy")

    @cached_property
    def X(self) -> Any:
        """In float64 once, if it is small, and not at each product."""
        small = self.host.stored <= SMALL_ENTRIES
        return self.host.X.astype(np.float64, copy=False) if small else self.host.X

    def uses_blas(self, columns: int) -> bool:
        return not self.sparse

    def dot(self, V: Array) -> Array:
        if self.X.dtype == V.dtype:
            return np.asarray(self.X @ V)
        # numpy would first make a float64 copy of a float32 X: do that block by block.
        result = np.empty((self.shape[0], *V.shape[1:]))
        for start, block in blocks(self.X):
            result[start : start + block.shape[0]] = block @ V
        return result

    def tdot(self, U: Array) -> Array:
        if self.X.dtype == U.dtype:
            return np.asarray(self.X.T @ U)
        result = np.zeros((self.shape[1], *U.shape[1:]))
        for start, block in blocks(self.X):
            result += block.T @ U[start : start + block.shape[0]]
        return result

    def like(self, X: Any) -> Matrix:
        return NumpyMatrix(X)
