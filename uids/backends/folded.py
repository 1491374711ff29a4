"""X Xᵀ U of a CSR matrix for several vectors, each column as it is cheapest."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from uids.backends.dense_blocks import DenseBlocks
from uids.backends.frequent import dense_columns, frequent
from uids.backends.matrix import Array


class Folded:
    """X Xᵀ = S Sᵀ + F Fᵀ + diag(a). An entry that is alone in its column, as half of the words of a
    text are, meets itself only: its square is part of a_i. F are the columns that most rows have,
    dense; some dozens of words are half of all entries. What is left is in so few columns that Sᵀ U
    stays in the cache, where Xᵀ U would not."""

    def __init__(self, X: sp.csr_matrix) -> None:
        counts, many = frequent(X)
        F = dense_columns(X, np.flatnonzero(many))
        some = (counts > 1) & ~many
        self.frequent = DenseBlocks(F, None, [0, X.shape[0]])
        squares = np.where(counts[X.indices] == 1, X.data.astype(np.float64, copy=False) ** 2, 0)
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        self.alone = np.bincount(row, squares, minlength=X.shape[0])
        kept = some[X.indices]
        names, cuts = np.cumsum(some) - 1, np.cumsum(np.append(0, kept))
        parts = X.data[kept], names[X.indices[kept]], cuts[X.indptr]
        self.some = sp.csr_matrix(parts, shape=(X.shape[0], int(some.sum())))
        self.some_T = self.some.T  # of the same memory; made at each product it takes a tenth of it

    def outer_dot(self, U: Array) -> Array:
        product = np.asarray(self.some @ (self.some_T @ U))
        product += self.alone[:, None] * U
        if self.frequent.X.size:
            product += self.frequent.dot(self.frequent.tdot(U))
        return product
