"""X on a device, dense or sparse, and views of some of its rows. At the edge numpy arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import numpy.typing as npt

from uids_backend_jax import kernels
from uids_backend_jax.precision import float64

NumpyArray = npt.NDArray[Any]

CPU_BLOCK = 2**18  # numbers of a block on a CPU: 2 MiB, which its cache holds
DEVICE_BLOCK = 2**24  # numbers of a block elsewhere: enough to keep a GPU busy
FEWEST = 64  # rows, and entries, for which loops are compiled: fewer are filled up
VIEW_SHARE = 0.5  # of the rows, from which on a product of the whole is worth no copy


def rounded(size: int) -> int:
    """Up, by at most an eighth: XLA compiles for each shape, and subsets differ by a few rows."""
    step = 1 << max(0, size.bit_length() - 4)
    return -(-size // step) * step


def stacked(size: int, limit: int) -> tuple[int, int]:
    """(blocks, length): so many blocks of that length hold ``size``."""
    if size <= limit:
        return 1, min(limit, rounded(max(FEWEST, size)))
    return rounded(-(-size // limit)), limit


def filled(array: NumpyArray, shape: tuple[int, ...]) -> NumpyArray:
    """As blocks, with zeros at the end."""
    whole = np.zeros((shape[0] * shape[1], *array.shape[1:]), array.dtype)
    whole[: len(array)] = array
    return whole.reshape(*shape, *array.shape[1:])


class Matrix(ABC):
    """What uids asks of a matrix: the two products, and those that are quicker here than by the
    defaults on top of the two. ``shape`` is (n, d).

    | product                | meaning           | shapes                    |
    |------------------------|-------------------|---------------------------|
    | ``dot(V)``             | X V               | (d,) or (d, k) → (n, …)   |
    | ``tdot(U)``            | Xᵀ U              | (n,) or (n, k) → (d, …)   |
    | ``gram_dot(w, V)``     | Xᵀ (w ∘ (X V))    | (n,), (d, k) → (d, k)     |
    | ``scored_dot(w, v)``   | that, and X v     | (n,), (d,) → (d,), (n,)   |
    | ``outer_dot(u)``       | X Xᵀ u            | (n,) → (n,)               |
    | ``square_tdot(W)``     | (X ∘ X)ᵀ W        | (n,) or (n, k) → (d, …)   |
    | ``gram(w)``            | Xᵀ diag(w) X      | (n,) → (d, d); dense only |
    """

    shape: tuple[int, int]
    note: str

    @abstractmethod
    def dot(self, V: NumpyArray) -> NumpyArray: ...

    @abstractmethod
    def tdot(self, U: NumpyArray) -> NumpyArray: ...

    @abstractmethod
    def gram_dot(self, w: NumpyArray, V: NumpyArray) -> NumpyArray: ...

    @abstractmethod
    def scored_dot(self, w: NumpyArray, v: NumpyArray) -> tuple[NumpyArray, NumpyArray]: ...

    @abstractmethod
    def outer_dot(self, u: NumpyArray) -> NumpyArray: ...

    @abstractmethod
    def square_tdot(self, W: NumpyArray) -> NumpyArray: ...

    @abstractmethod
    def rows(self, index: NumpyArray) -> Matrix:
        """Those rows, by their positions."""

    def uses_blas(self, columns: int) -> bool:
        return False


class DeviceMatrix(Matrix):
    """What the two kinds share: the device, and the ways to it and back."""

    View: type[View]

    def __init__(self, X: Any, device: jax.Device) -> None:
        self.X, self.device = X, device
        self.shape = X.shape
        self.stored_as = np.float32 if X.dtype == np.float32 else np.float64
        self.limit = CPU_BLOCK if device.platform == "cpu" else DEVICE_BLOCK
        kept = "" if self.stored_as is np.float64 else " (X in float32)"
        self.note = f"jax: {device.platform}:{device.id}, float64{kept}"

    def put(self, array: NumpyArray) -> jax.Array:
        return jax.device_put(array, self.device)

    def ask(self, kernel: Callable[..., Any], *arguments: Any, **sizes: int) -> Any:
        """The kernel's answer in numpy, the arguments of numpy's moved to the device. Copies, since
        JAX lends its own for reading only."""
        with float64():
            moved = [self.put(a) if isinstance(a, np.ndarray) else a for a in arguments]
            return jax.tree.map(np.array, kernel(*moved, **sizes))

    def rows(self, index: NumpyArray) -> Matrix:
        """Most of the rows are a view; few are copied, and moved, once for all their products."""
        if len(index) >= VIEW_SHARE * self.shape[0]:
            return self.View(self, np.asarray(index))
        return type(self)(self.X[index], self.device)


class DenseMatrix(DeviceMatrix):
    def __init__(self, X: Any, device: jax.Device) -> None:
        super().__init__(X, device)
        self.stack = stacked(X.shape[0], max(1, self.limit // max(1, X.shape[1])))
        with float64():
            self.blocks = self.put(self.by_block(X.astype(self.stored_as, copy=False)))

    def by_block(self, U: NumpyArray) -> NumpyArray:
        """What belongs to the rows, (n, …) → (blocks, height, …)."""
        return filled(U, self.stack)

    def by_row(self, Z: NumpyArray) -> NumpyArray:
        """(blocks, height, …) → (n, …)."""
        return Z.reshape(-1, *Z.shape[2:])[: self.shape[0]]

    def dot(self, V: NumpyArray) -> NumpyArray:
        return self.by_row(self.ask(kernels.dense_dot, self.blocks, V))

    def tdot(self, U: NumpyArray) -> NumpyArray:
        return self.ask(kernels.dense_tdot, self.blocks, self.by_block(U))

    def gram_dot(self, w: NumpyArray, V: NumpyArray) -> NumpyArray:
        return self.ask(kernels.dense_gram_dot, self.blocks, self.by_block(w), V)

    def scored_dot(self, w: NumpyArray, v: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
        product, scores = self.ask(kernels.dense_scored_dot, self.blocks, self.by_block(w), v)
        return product, self.by_row(scores)

    def outer_dot(self, u: NumpyArray) -> NumpyArray:
        return self.by_row(self.ask(kernels.dense_outer_dot, self.blocks, self.by_block(u)))

    def square_tdot(self, W: NumpyArray) -> NumpyArray:
        return self.ask(kernels.dense_square_tdot, self.blocks, self.by_block(W))

    def gram(self, w: NumpyArray) -> NumpyArray:
        return self.ask(kernels.dense_gram, self.blocks, self.by_block(w))


class SparseMatrix(DeviceMatrix):
    def __init__(self, X: Any, device: jax.Device) -> None:
        super().__init__(X, device)
        self.height = rounded(max(FEWEST, X.shape[0]))
        stack = stacked(X.nnz, self.limit)
        small = np.int32 if max(X.shape) < 2**31 else np.int64
        rows = np.repeat(np.arange(X.shape[0], dtype=small), np.diff(X.indptr))
        parts = X.data.astype(self.stored_as, copy=False), rows, X.indices.astype(small, copy=False)
        with float64():
            self.entries = kernels.Entries(*(self.put(filled(part, stack)) for part in parts))

    def padded(self, U: NumpyArray) -> NumpyArray:
        """With rows of zeros up to the height for which the loops are compiled."""
        return filled(U, (1, self.height))[0]

    def dot(self, V: NumpyArray) -> NumpyArray:
        return self.ask(kernels.sparse_dot, self.entries, V, rows=self.height)[: self.shape[0]]

    def tdot(self, U: NumpyArray) -> NumpyArray:
        U = self.padded(U)
        return self.ask(kernels.sparse_tdot, self.entries, U, columns=self.shape[1])

    def gram_dot(self, w: NumpyArray, V: NumpyArray) -> NumpyArray:
        return self.ask(kernels.sparse_gram_dot, self.entries, self.padded(w), V)

    def scored_dot(self, w: NumpyArray, v: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
        product, scores = self.ask(kernels.sparse_scored_dot, self.entries, self.padded(w), v)
        return product, scores[: self.shape[0]]

    def outer_dot(self, u: NumpyArray) -> NumpyArray:
        U = self.padded(u)
        product = self.ask(kernels.sparse_outer_dot, self.entries, U, columns=self.shape[1])
        return product[: self.shape[0]]

    def square_tdot(self, W: NumpyArray) -> NumpyArray:
        W = self.padded(W)
        return self.ask(kernels.sparse_tdot, self.entries, W, columns=self.shape[1], power=2)


class View(Matrix):
    """Some rows of a matrix, for the price of their positions: the whole, in which the others have
    the weight 0. Nothing is moved or compiled again."""

    def __init__(self, whole: DeviceMatrix, index: NumpyArray) -> None:
        self.whole, self.index = whole, index
        self.shape, self.note = (len(index), whole.shape[1]), whole.note
        self.repeats = len(np.unique(index)) < len(index)

    def spread(self, U: NumpyArray) -> NumpyArray:
        """To the rows of the whole, (view, …) → (n, …)."""
        spread = np.zeros((self.whole.shape[0], *U.shape[1:]))
        if self.repeats:
            np.add.at(spread, self.index, U)
        else:
            spread[self.index] = U
        return spread

    def dot(self, V: NumpyArray) -> NumpyArray:
        return self.whole.dot(V)[self.index]

    def tdot(self, U: NumpyArray) -> NumpyArray:
        return self.whole.tdot(self.spread(U))

    def gram_dot(self, w: NumpyArray, V: NumpyArray) -> NumpyArray:
        return self.whole.gram_dot(self.spread(w), V)

    def scored_dot(self, w: NumpyArray, v: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
        product, scores = self.whole.scored_dot(self.spread(w), v)
        return product, scores[self.index]

    def outer_dot(self, u: NumpyArray) -> NumpyArray:
        return self.whole.outer_dot(self.spread(u))[self.index]

    def square_tdot(self, W: NumpyArray) -> NumpyArray:
        return self.whole.square_tdot(self.spread(W))

    def rows(self, index: NumpyArray) -> Matrix:
        return self.whole.rows(self.index[index])


class DenseView(View):
    whole: DenseMatrix

    def gram(self, w: NumpyArray) -> NumpyArray:
        return self.whole.gram(self.spread(w))


DenseMatrix.View, SparseMatrix.View = DenseView, View
