"""numba: compiled loops over the rows, on several threads, for CSR and dense matrices.

Each thread has its own range of rows and adds into sums of its own; those are added up in a fixed
order. So a product is the same every time, and with another number of threads it differs by
rounding only. The threads are Python's own, since the loops run without the GIL: numba's threading
layers are not all safe in several threads or after a fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, ClassVar

import numba
import numpy as np
import scipy.sparse as sp

from uids.backends import Array, blocks
from uids.backends import kernels as k
from uids.errors import require

PRECISIONS = ("float64", "float32")
STEP = 2**18  # numbers between the two loops of a fused product: 2 MiB for each thread
WIDTH = 8  # columns added into at once: as many as a cache line holds
ALL_ROWS = np.empty(0, dtype=np.uint64)
ZERO = np.uint64(0)
MANY = 1024
CONFIG: Any = numba.config


@dataclass(frozen=True)
class Numba:
    """``precision`` in which the values of X are stored: float32 halves what a product reads, and
    costs a copy of a float64 X. Sums are float64 in either. Values that are all 1 are never read.
    ``threads`` is the number of cores, or NUMBA_NUM_THREADS, unless it is given.
    """

    precision: str = "float64"
    threads: int | None = None

    views: ClassVar[bool] = True  # the rows of a matrix share its arrays

    def __post_init__(self) -> None:
        require(self.precision in PRECISIONS, "precision", "'float64' or 'float32'", self.precision)
        require(self.threads is None or self.threads >= 1, "threads", "1 or more", self.threads)

    def matrix(self, X: Any) -> Kernels:
        threads = self.threads or int(CONFIG.NUMBA_NUM_THREADS)
        single = self.precision == "float32"
        return (SparseMatrix if sp.issparse(X) else DenseMatrix)(X, threads, single)


@cache
def pool() -> ThreadPoolExecutor:
    """One for all; it starts a thread only when none is idle."""
    return ThreadPoolExecutor(MANY, thread_name_prefix="uids")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # the child has none of the threads


def on_threads(work: Callable[[int], None], count: int) -> None:
    """work(0), …, work(count − 1), the first in this thread; all have ended when it returns."""
    futures = [pool().submit(work, t) for t in range(1, count)]
    try:
        work(0)
    finally:
        failures = [future.exception() for future in futures]
    for failure in failures:
        if failure is not None:
            raise failure


class Scratch:
    """Memory that a matrix and its views keep from one product to the next, for one product at a
    time. ``sums`` are zero between products."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.sums = np.zeros(0)
        self.steps = np.zeros(0)

    def __enter__(self) -> Scratch:
        self.lock.acquire()
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is not None:
            self.sums = np.zeros(0)  # broken off, and so not zero
        self.lock.release()

    def zeros(self, *shape: int) -> Array:
        size = int(np.prod(shape))
        if self.sums.size < size:
            self.sums = np.zeros(size)
        return self.sums[:size].reshape(shape)

    def empty(self, *shape: int) -> Array:
        size = int(np.prod(shape))
        if self.steps.size < size:
            self.steps = np.empty(size)
        return self.steps[:size].reshape(shape)


class Kernels:
    """What the two kinds of matrix share: threads, scratch, and which rows of X are meant."""

    shape: tuple[int, int]
    entries: int  # stored
    threads: int
    note: str
    listed: Array = ALL_ROWS

    def __init__(self, shape: tuple[int, int], entries: int, threads: int, kind: str) -> None:
        self.shape, self.entries, self.threads = shape, entries, threads
        self.note = f"numba: {threads} {'thread' if threads == 1 else 'threads'}, {kind}"
        self.scratch = Scratch()
        self.cuts: dict[int, Array] = {}

    def rows(self, index: Array) -> Any:
        """A view: those rows of the whole matrix, in that order, for the price of the index. It
        must lie within the matrix, since the loops do not look."""
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        view.listed = readonly(np.ascontiguousarray(index, dtype=np.int64)).view(np.uint64)
        view.shape = (len(index), self.shape[1])
        view.entries = view.count()
        view.cuts = {}
        return view

    def count(self) -> int:
        """The entries that are stored in the listed rows."""
        raise NotImplementedError

    def cut(self, threads: int) -> Array:
        """Where to cut the rows into ranges of like work, (threads + 1,)."""
        raise NotImplementedError

    def ranges(self, threads: int) -> Array:
        if threads not in self.cuts:
            self.cuts[threads] = self.cut(threads).astype(np.uint64)
        return self.cuts[threads]

    def each(self, work: Callable[[Any, Any], None]) -> None:
        """work(first, last) on each thread's range of rows."""
        cuts = self.ranges(self.threads)
        on_threads(lambda t: work(cuts[t], cuts[t + 1]), self.threads)

    def sum(self, out: Array, add: Callable[..., None]) -> Array:
        """out += the sums over rows that add(first, last, sums, column, begin, width, steps) adds
        into ``sums`` from ``column`` on, for the columns begin:begin + width of the product.

        The first thread adds into out itself and the others into scratch. There are as many as
        have more to add than to add up, and as many columns at once as keep the scratch small
        beside X. ``steps`` is scratch for up to STEP numbers.
        """
        if out.size == 0:
            return out
        table = out.reshape(len(out), -1)
        size, columns = table.shape
        threads = int(np.clip(self.entries // max(1, size), 1, self.threads))
        room = self.entries // (2 * size * max(1, threads - 1))
        width = int(np.clip(room, 1, min(WIDTH, columns)))
        cuts = self.ranges(threads)
        with self.scratch as scratch:
            steps = scratch.empty(threads, min(STEP, self.shape[0] * width))
            for begin in range(0, columns, width):
                wide = min(width, columns - begin)
                parts = scratch.zeros(threads - 1, size, wide)

                def work(
                    t: int, begin: int = begin, wide: int = wide, parts: Array = parts
                ) -> None:
                    sums, column = (table, begin) if t == 0 else (parts[t - 1], 0)
                    where = [np.uint64(number) for number in (column, begin, wide)]
                    add(cuts[t], cuts[t + 1], sums, *where, steps[t])

                on_threads(work, threads)
                if threads > 1:
                    self.collect(parts, table, begin)
        return out

    def collect(self, parts: Array, table: Array, begin: int) -> None:
        threads = len(parts) + 1
        cuts = np.linspace(0, len(table), threads + 1).astype(np.uint64)
        at = np.uint64(begin)
        on_threads(lambda t: k.collect(parts, cuts[t], cuts[t + 1], table, at), threads)

    def checked(self, name: str, array: Any, length: int) -> Array:
        """As the loops read it, and of the right length: they would read past the end."""
        array = np.ascontiguousarray(array, dtype=np.float64)
        if array.ndim not in (1, 2) or len(array) != length:
            raise ValueError(f"{name} has the shape {array.shape}, where {length} rows are needed")
        return readonly(array)


class SparseMatrix(Kernels):
    def __init__(self, X: Any, threads: int, single: bool) -> None:
        X = X.tocsr()
        if not X.has_canonical_format:  # the Gram matrix relies on it
            X = X.copy()
            X.sum_duplicates()
        values = readonly(X.data)
        ones = bool(k.all_ones(values))
        if single and not ones:
            values = readonly(values.astype(np.float32, copy=False))
        self.indptr = unsigned(X.indptr)
        self.X = None if ones else values, unsigned(X.indices), self.indptr
        kind = "0/1 features" if ones else f"{values.dtype} values"
        super().__init__(X.shape, int(X.nnz), threads, kind)

    def count(self) -> int:
        return int(k.stored(self.indptr, self.listed))

    def cut(self, threads: int) -> Array:
        cuts = np.zeros(threads + 1, dtype=np.int64)
        rows, entries = np.uint64(self.shape[0]), np.uint64(self.entries)
        k.csr_cuts(self.indptr, self.listed, rows, entries, cuts)
        return cuts

    def dot(self, V: Array) -> Array:
        V = self.checked("V", V, self.shape[1])
        out = np.empty((self.shape[0], *V.shape[1:]))
        width = np.uint64(V[:1].size)

        def work(first: Any, last: Any) -> None:
            if V.ndim == 1:
                k.csr_dot(*self.X, self.listed, first, last, V, None, out, ZERO)
            else:
                span = ZERO, ZERO, width
                k.csr_dot_columns(*self.X, self.listed, first, last, V, None, out, ZERO, *span)

        self.each(work)
        return out

    def tdot(self, U: Array, square: bool | None = None) -> Array:
        U = self.checked("U", U, self.shape[0])

        def add(
            first: Any, last: Any, sums: Array, column: Any, begin: Any, width: Any, _: Any
        ) -> None:
            at = self.listed, first, last, U
            if U.ndim == 1:
                k.csr_tdot(*self.X, *at, sums.reshape(-1), ZERO, square)
            else:
                k.csr_tdot_columns(*self.X, *at, sums, ZERO, begin, column, width, square)

        return self.sum(np.zeros((self.shape[1], *U.shape[1:])), add)

    def square_tdot(self, W: Array) -> Array:
        return self.tdot(W, square=True)

    def gram_dot(self, w: Array, V: Array) -> Array:
        """Xᵀ (w ∘ (X V)), in two loops over STEP numbers each. In one loop X would be read once,
        but V and the sums would share the cache, and it is they that miss it."""
        w, V = self.checked("w", w, self.shape[0]), self.checked("V", V, self.shape[1])
        X = *self.X, self.listed

        def add(
            first: Any, last: Any, sums: Array, column: Any, begin: Any, width: Any, steps: Array
        ) -> None:
            height = np.uint64(steps.size) // width
            while first < last:
                to = min(last, first + height)
                if V.ndim == 1:
                    k.csr_dot(*X, first, to, V, w, steps, first)
                    k.csr_tdot(*X, first, to, steps, sums.reshape(-1), first, None)
                else:
                    Z = steps[: height * width].reshape(-1, width)
                    k.csr_dot_columns(*X, first, to, V, w, Z, first, begin, ZERO, width)
                    k.csr_tdot_columns(*X, first, to, Z, sums, first, ZERO, column, width, None)
                first = to

        return self.sum(np.zeros(V.shape), add)

    def gram(self, w: Array) -> Array:
        w = self.checked("w", w, self.shape[0])
        d = self.shape[1]

        def add(first: Any, last: Any, sums: Array, *_: Any) -> None:
            k.csr_gram(*self.X, self.listed, first, last, w, sums.reshape(d, d))

        half = self.sum(np.zeros(d * d), add).reshape(d, d)  # column ≥ row
        half += np.triu(half, 1).T
        return half


class DenseMatrix(Kernels):
    """One vector by loops that read each row once; several by BLAS, a block of rows at a time, and
    so too where the rows of X do not lie in memory one after the other."""

    def __init__(self, X: Any, threads: int, single: bool) -> None:
        X = np.asarray(X)
        self.X = readonly(X.astype(np.float32, copy=False) if single else X)
        super().__init__(X.shape, X.size, threads, f"dense {self.X.dtype}")

    def count(self) -> int:
        return self.shape[0] * self.shape[1]

    def cut(self, threads: int) -> Array:
        return np.linspace(0, self.shape[0], threads + 1)

    def by_rows(self, V: Array) -> bool:
        return V.ndim == 1 and self.X.flags.c_contiguous

    def blocks(self) -> Any:
        return blocks(self.X, None if self.listed is ALL_ROWS else self.listed)

    def dot(self, V: Array) -> Array:
        V = self.checked("V", V, self.shape[1])
        out = np.empty((self.shape[0], *V.shape[1:]))
        if self.by_rows(V):
            self.each(lambda first, last: k.dense_dot(self.X, self.listed, first, last, V, out))
            return out
        for start, block in self.blocks():
            out[start : start + len(block)] = block @ V
        return out

    def tdot(self, U: Array) -> Array:
        return self._tdot(U, None)

    def square_tdot(self, W: Array) -> Array:
        return self._tdot(W, True)

    def _tdot(self, U: Array, square: bool | None) -> Array:
        U = self.checked("U", U, self.shape[0])
        out = np.zeros((self.shape[1], *U.shape[1:]))
        if self.by_rows(U):

            def add(first: Any, last: Any, sums: Array, *_: Any) -> None:
                k.dense_tdot(self.X, self.listed, first, last, U, sums.reshape(-1), square)

            return self.sum(out, add)
        for start, block in self.blocks():
            out += (block * block if square else block).T @ U[start : start + len(block)]
        return out

    def gram_dot(self, w: Array, V: Array) -> Array:
        w, V = self.checked("w", w, self.shape[0]), self.checked("V", V, self.shape[1])
        out = np.zeros(V.shape)
        if self.by_rows(V):

            def add(first: Any, last: Any, sums: Array, *_: Any) -> None:
                k.dense_gram_dot(self.X, self.listed, first, last, w, V, sums.reshape(-1))

            return self.sum(out, add)
        for start, block in self.blocks():
            Z = block @ V
            Z *= w[start : start + len(block)].reshape(-1, *[1] * (V.ndim - 1))
            out += block.T @ Z
        return out

    def gram(self, w: Array) -> Array:
        w = self.checked("w", w, self.shape[0])
        out = np.zeros((self.shape[1], self.shape[1]))
        for start, block in self.blocks():
            out += block.T @ (block * w[start : start + len(block), None])
        return out


def readonly(array: Array) -> Array:
    """The same memory, never to be written to: a memory-mapped array cannot be, and one type for
    all means one compilation."""
    array = np.asarray(array).view()
    array.flags.writeable = False
    return array


def unsigned(index: Array) -> Array:
    """The same memory; scipy's indices are never negative."""
    return readonly(np.asarray(index).view(f"u{index.dtype.itemsize}"))
