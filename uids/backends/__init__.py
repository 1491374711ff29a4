"""A matrix on some hardware, and the products with it.

A backend is a component with ``matrix(X)``, whose result has ``shape``, ``dot(V)`` and
``tdot(U)`` and takes and gives numpy arrays. That is all it needs: ``Matrix`` puts the other
products on top, and steps aside for each that the backend has under the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[Any]
BLOCK_BYTES = 4 * 2**20  # of a temporary: small beside any X, and it stays in the cache


class Matrix:
    """X, of shape (n, d), seen through a backend.

    | product                | meaning           | shapes                    |
    |------------------------|-------------------|---------------------------|
    | ``dot(V)``             | X V               | (d,) or (d, k) → (n, …)   |
    | ``tdot(U)``            | Xᵀ U              | (n,) or (n, k) → (d, …)   |
    | ``gram_dot(w, V)``     | Xᵀ (w ∘ (X V))    | (n,), (d, k) → (d, k)     |
    | ``square_tdot(W)``     | (X ∘ X)ᵀ W        | (n,) or (n, k) → (d, …)   |
    | ``gram(w)``            | Xᵀ diag(w) X      | (n,) → (d, d)             |
    | ``rows(index)``        | those rows of X   |                           |
    """

    def __init__(self, backend: Any, X: Any) -> None:
        self.backend = backend
        self.X = X
        self.kernel = backend.matrix(X)
        self.shape: tuple[int, int] = tuple(self.kernel.shape)

    def dot(self, V: Array) -> Array:
        return writable(self.kernel.dot(V))

    def tdot(self, U: Array) -> Array:
        return writable(self.kernel.tdot(U))

    def gram_dot(self, w: Array, V: Array) -> Array:
        if hasattr(self.kernel, "gram_dot"):
            return writable(self.kernel.gram_dot(w, V))
        U = self.dot(V)
        U *= w if U.ndim == 1 else w[:, None]
        return self.tdot(U)

    def square_tdot(self, W: Array) -> Array:
        if hasattr(self.kernel, "square_tdot"):
            return np.asarray(self.kernel.square_tdot(W))
        total = np.zeros((self.shape[1], *W.shape[1:]))
        for start, block in blocks(self.X):
            square = block.copy() if sp.issparse(block) else block * block
            if sp.issparse(block):
                square.data *= square.data
            total += square.T @ W[start : start + block.shape[0]]
        return total

    def gram(self, w: Array) -> Array:
        if hasattr(self.kernel, "gram"):
            return np.asarray(self.kernel.gram(w))
        total = np.zeros((self.shape[1], self.shape[1]))
        for start, block in blocks(self.X):
            weight = w[start : start + block.shape[0], None]
            if sp.issparse(block):
                total += (block.T @ block.multiply(weight)).toarray()
            else:
                total += block.T @ (block * weight)
        return total

    def rows(self, index: Array) -> Matrix:
        return Matrix(self.backend, self.X[index])


def writable(array: Any) -> Array:
    """As a numpy array that may be changed in place; some libraries lend theirs read-only."""
    return np.require(array, requirements=["W"])


def blocks(X: Any) -> Iterator[tuple[int, Any]]:
    """(first row, rows in float64), each block within BLOCK_BYTES: no second X is ever made."""
    n = X.shape[0]
    stored = X.nnz if sp.issparse(X) else X.size
    height = max(1, int(BLOCK_BYTES // (8 * max(1, stored // max(1, n)))))
    for start in range(0, n, height):
        yield start, X[start : start + height].astype(np.float64, copy=False)
