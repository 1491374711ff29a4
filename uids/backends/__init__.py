"""A matrix on some hardware, and the products with it.

A backend is a component with ``matrix(X)``, whose result has ``shape``, ``dot(V)`` and
``tdot(U)`` and takes and gives numpy arrays. That is all it needs: ``Matrix`` puts the other
products on top, and steps aside for each that the backend has under the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
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
    | ``scored_dot(w, v)``   | that, and X v     | (n,), (d,) → (d,), (n,)   |
    | ``outer_dot(u)``       | X Xᵀ u            | (n,) → (n,)               |
    | ``square_tdot(W)``     | (X ∘ X)ᵀ W        | (n,) or (n, k) → (d, …)   |
    | ``gram(w)``            | Xᵀ diag(w) X      | (n,) → (d, d)             |
    | ``rows(index)``        | those rows of X   |                           |
    """

    def __init__(self, backend: Any, X: Any) -> None:
        # ``auto`` is one of several, depending on X.
        self.backend = backend.choose(X) if hasattr(backend, "choose") else backend
        self.source = X
        # Of a view: the matrix of all rows of the source, and which of them are meant.
        self.whole: Matrix | None = None
        self.index: Array | None = None
        self.shape: tuple[int, int] = tuple(X.shape)

    @cached_property
    def kernel(self) -> Any:
        if self.whole is None:
            return self.backend.matrix(self.source)
        return self.whole.kernel.rows(self.index)

    @cached_property
    def X(self) -> Any:
        """The rows themselves; a copy of them, which is then kept, if they are a view."""
        return self.source if self.index is None else self.source[self.index]

    @property
    def note(self) -> str:
        """What the backend says of itself, if it does."""
        return str(getattr(self.kernel, "note", ""))

    @property
    def without_blas(self) -> bool:
        """Whether products leave BLAS alone: on threads of the backend's own, or by scipy."""
        return hasattr(self.kernel, "threads") or sp.issparse(getattr(self.kernel, "X", None))

    @property
    def threads(self) -> int:
        """That the backend has of its own, on which other work on the rows may go too."""
        return int(getattr(self.kernel, "threads", 1))

    def blocks(self, height: int | None = None) -> Iterator[tuple[int, Any]]:
        """(first row, rows in float64) for as many rows at a time, or within BLOCK_BYTES."""
        return blocks(self.source, self.index, height)

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

    def scored_dot(self, w: Array, v: Array) -> tuple[Array, Array]:
        if hasattr(self.kernel, "scored_dot"):
            product, scores = self.kernel.scored_dot(w, v)
            return writable(product), writable(scores)
        scores = self.dot(v)
        return self.tdot(w * scores), scores

    def outer_dot(self, u: Array) -> Array:
        if hasattr(self.kernel, "outer_dot"):
            return writable(self.kernel.outer_dot(u))
        return self.dot(self.tdot(u))

    def square_tdot(self, W: Array) -> Array:
        if hasattr(self.kernel, "square_tdot"):
            return writable(self.kernel.square_tdot(W))
        total = np.zeros((self.shape[1], *W.shape[1:]))
        for start, block in self.blocks():
            square = block.copy() if sp.issparse(block) else block * block
            if sp.issparse(block):
                square.data *= square.data
            total += square.T @ W[start : start + block.shape[0]]
        return total

    def gram(self, w: Array) -> Array:
        if hasattr(self.kernel, "gram"):
            return np.asarray(self.kernel.gram(w))
        total = np.zeros((self.shape[1], self.shape[1]))
        for start, block in self.blocks():
            weight = w[start : start + block.shape[0], None]
            if sp.issparse(block):
                total += (block.T @ block.multiply(weight)).toarray()
            else:
                total += block.T @ (block * weight)
        return total

    def rows(self, index: Array) -> Matrix:
        """A copy of those rows; or a view, if the backend has ``views``: its kernel then makes one
        by rows(index) from an index of the whole. All rows in order are the matrix itself."""
        n = self.shape[0]
        index = np.asarray(index)
        if index.dtype == bool:
            index = np.flatnonzero(index)
        if len(index) == n and np.array_equal(index, np.arange(n)):
            return self
        if not getattr(self.backend, "views", False):
            return Matrix(self.backend, self.X[index])
        index = index.astype(np.int64, copy=False)
        if len(index):  # a kernel does not look: it would read foreign memory
            low, high = int(index.min()), int(index.max())
            if low < -n or high >= n:
                raise IndexError(f"rows {low} to {high} of a matrix that has {n}")
            index = index % n if low < 0 else index
        view = Matrix(self.backend, self.source)
        view.whole = self.whole or self
        view.index = index if self.index is None else self.index[index]
        view.shape = (len(index), self.shape[1])
        return view


def writable(array: Any) -> Array:
    """As a numpy array that may be changed in place; some libraries lend theirs read-only."""
    return np.require(array, requirements=["W"])


def blocks(
    X: Any, index: Array | None = None, height: int | None = None
) -> Iterator[tuple[int, Any]]:
    """(first row, rows in float64) of all rows or of those in ``index``, ``height`` at a time or
    within BLOCK_BYTES: no second X is ever made."""
    n = X.shape[0]
    stored = X.nnz if sp.issparse(X) else X.size
    height = height or max(1, int(BLOCK_BYTES // (8 * max(1, stored // max(1, n)))))
    for start in range(0, n if index is None else len(index), height):
        part = slice(start, start + height)
        yield start, X[part if index is None else index[part]].astype(np.float64, copy=False)
