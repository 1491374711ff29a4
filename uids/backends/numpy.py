"""numpy for dense matrices, scipy for sparse ones: no more than the two products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from uids.backends import Array, blocks

SMALL = 2_000_000  # stored entries: 16 MB


@dataclass(frozen=True)
class Numpy:
    """The backend that is always there, and the one that others are measured against."""

    def matrix(self, X: Any) -> NumpyMatrix:
        return NumpyMatrix(X)


class NumpyMatrix:
    def __init__(self, X: Any) -> None:
        # In float64 once, if it is small, and not at each product.
        small = (X.nnz if sp.issparse(X) else X.size) <= SMALL
        self.X = X.astype(np.float64, copy=False) if small else X
        self.shape = X.shape

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
