"""numba: compiled loops over the rows, on several threads, for CSR and dense matrices.

Every thread has its own part of X and the sums are added up in a fixed order. So a product is the
same every time, and with another number of threads it differs by rounding only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numba
import numpy as np
import scipy.sparse as sp

from uids.backends import Array, blocks
from uids.backends.loops import kernels as k
from uids.backends.loops.columns import Columns, pays
from uids.backends.loops.layout import Layout, moved, release
from uids.backends.loops.threaded import ALL_ROWS, Share, Threaded, readonly
from uids.errors import require

PRECISIONS = ("float64", "float32")
FAR = 2**19  # columns: a vector of them is not in the cache of a core, and each number is asked for
SOON = 160  # entries before its turn; rows as long as that have enough to wait for at once
PATIENCE = 10  # products, after which many more are likely: one solve may take fewer
CACHE = 2**25  # bytes, of a processor
PAGE = 2**12  # bytes
ZERO = np.uint64(0)
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

    def matrix(self, X: Any) -> Threaded:
        threads = self.threads or int(CONFIG.NUMBA_NUM_THREADS)
        single = self.precision == "float32"
        return (SparseMatrix if sp.issparse(X) else DenseMatrix)(X, threads, single)


@dataclass
class Stored:
    """The entries, as the loops for one vector and for several read them."""

    rows: Layout
    columns: Columns | None = None
    products: int = 0  # so far


class SparseMatrix(Threaded):
    """CSR, whose rows the threads share out. Hessian products store anew what that pays for: few
    rows of many columns by columns, after some products (``Columns``), and large 0/1 data with
    their columns renamed (``Layout``)."""

    def __init__(self, X: Any, threads: int, single: bool) -> None:
        X = X.tocsr()
        if not X.has_canonical_format:  # storing by columns and the Gram matrix rely on it
            X = X.copy()
            X.sum_duplicates()
        values = readonly(X.data)
        ones = bool(k.all_ones(values))
        if ones:
            release(values)
        elif single:
            values = readonly(values.astype(np.float32, copy=False))
        kind = "0/1 features" if ones else f"{values.dtype} values"
        super().__init__(X.shape, int(X.nnz), threads, kind)
        indptr = unsigned(X.indptr)
        entries = None if ones else values, unsigned(X.indices), indptr[:-1], indptr[1:]
        self.original = Layout(*entries)
        self.stored = Stored(self.original)  # one for the matrix and its views
        far = X.shape[1] >= FAR and 0 < self.entries < SOON * X.shape[0]
        self.ahead = np.uint64(-(-SOON * X.shape[0] // self.entries) if far else 0)

    @property
    def layout(self) -> Layout:
        return self.stored.rows

    def store(self, by_columns: bool = False) -> None:
        """As it pays for many products; by columns after a few, or at once."""
        with self.scratch:
            d = self.shape[1]
            self.stored.products += 1
            if pays(self.original, d):
                now = by_columns or self.stored.products > PATIENCE
                if now and self.stored.columns is None:
                    self.stored.columns = Columns(self.original, d, self.threads)
            elif self.layout.pays_renaming(d):
                self.stored.rows = self.layout.by_frequency(d, self.threads)

    def by_columns(self, V: Array) -> Columns | None:
        """For one vector, unless the view has less than half the entries: columns have all."""
        half = 2 * self.entries >= len(self.original.indices)
        return self.stored.columns if V.ndim == 1 and half else None

    def whole(self, u: Array) -> Array:
        """Numbers of the listed rows as those of all rows, 0 for the others."""
        if self.listed is ALL_ROWS:
            return u
        return np.bincount(self.listed.view(np.int64), u, len(self.original.starts))

    def count(self) -> int:
        return int(k.stored(self.layout.starts, self.layout.ends, self.listed))

    def cut(self, threads: int) -> Array:
        cuts = np.zeros(threads + 1, dtype=np.int64)
        rows, entries = np.uint64(self.shape[0]), np.uint64(self.entries)
        k.csr_cuts(self.layout.starts, self.layout.ends, self.listed, rows, entries, cuts)
        return cuts

    def dot(self, V: Array) -> Array:
        V = self.checked("V", V, self.shape[1])
        span = ZERO, ZERO, np.uint64(V[:1].size)
        with self.scratch:
            x, V = self.layout, self.placed(V)
            out = self.scratch.result(self.shape[0], *V.shape[1:])
            self.each(lambda first, last: self._dot(x, first, last, V, None, out, ZERO, *span))
        return out

    def tdot(self, U: Array) -> Array:
        return self._added(U, None)

    def square_tdot(self, W: Array) -> Array:
        return self._added(W, True)

    def _added(self, U: Array, square: bool | None) -> Array:
        U = self.checked("U", U, self.shape[0])
        with self.scratch:
            columns = self.by_columns(U)
            if columns:
                return columns.tdot(self.whole(U), square, self.scratch.result(self.shape[1]))
            x = self.layout

            def add(s: Share) -> None:
                self._tdot(x, s, s.first, s.last, U, ZERO, s.begin, square)

            return self.columns((self.shape[1], *U.shape[1:]), add)

    def gram_dot(self, w: Array, V: Array) -> Array:
        """Xᵀ (w ∘ (X V)) in two loops over many rows. In one loop X would be read once, but V and
        the sums would share the cache, and it is they that miss it."""
        w, V = self.checked("w", w, self.shape[0]), self.checked("V", V, self.shape[1])
        self.store()
        with self.scratch:
            columns = self.by_columns(V)
            if columns:
                x, u = self.original, self.scratch.empty("scores", self.shape[0])
                self.each(lambda first, last: self._dot(x, first, last, V, w, u, ZERO))
                return columns.tdot(self.whole(u), None, self.scratch.result(*V.shape))
            x, V = self.layout, self.placed(V)

            def add(s: Share) -> None:
                Z = s.steps if V.ndim == 1 else s.steps[: len(s.steps) // s.width * s.width]
                Z = Z.reshape(-1, *[int(s.width)] * (V.ndim - 1))
                for start in range(s.first, s.last, len(Z)):
                    end = min(int(s.last), start + len(Z))
                    base, to = np.uint64(start), np.uint64(end)
                    self._dot(x, base, to, V, w, Z, base, s.begin, ZERO, s.width)
                    self._tdot(x, s, base, to, Z, base, ZERO, None)

            return self.columns(V.shape, add)

    def outer_dot(self, u: Array) -> Array:
        u = self.checked("u", u, self.shape[0])
        self.store(by_columns=True)
        with self.scratch:
            columns = self.by_columns(u)
            if columns:
                found = columns.outer_dot(self.whole(u))
                return found if self.listed is ALL_ROWS else found[self.listed]
        return self.dot(self.tdot(u))

    def placed(self, V: Array) -> Array:
        """V with its columns where the layout has them."""
        if self.layout.order is None:
            return V
        return readonly(
            moved(V, self.layout.order, self.scratch.empty("V", *V.shape), self.threads)
        )

    def columns(self, shape: tuple[int, ...], add: Callable[[Share], None]) -> Array:
        """The sums over rows, one for each column, in the columns' own order."""
        out, place = self.scratch.result(*shape), self.layout.place
        sums = out if place is None else self.scratch.empty("columns", *shape)
        sums[:] = 0
        self.sum(sums, add)
        return sums if place is None else moved(sums, place, out, self.threads)

    def _dot(
        self, x: Layout, first: Any, last: Any, V: Array, w: Any, out: Array, base: Any, *span: Any
    ) -> None:
        X = x.data, x.indices, x.starts, x.ends, self.listed
        if V.ndim == 1:
            k.csr_dot(*X, first, last, V, w, out, base, self.ahead)
        else:
            k.csr_dot_columns(*X, first, last, V, w, out, base, *span)

    def _tdot(
        self,
        x: Layout,
        s: Share,
        first: Any,
        last: Any,
        U: Array,
        base: Any,
        begin: Any,
        square: bool | None,
    ) -> None:
        U = readonly(U)
        X = x.data, x.indices, x.starts, x.ends, self.listed
        if U.ndim == 1:
            k.csr_tdot(*X, first, last, U, s.sums.reshape(-1), base, square, self.ahead)
        else:
            k.csr_tdot_columns(*X, first, last, U, s.sums, base, begin, s.at, s.width, square)

    def gram(self, w: Array) -> Array:
        w = self.checked("w", w, self.shape[0])
        d, x = self.shape[1], self.original  # whose indices are sorted

        def add(s: Share) -> None:
            X = x.data, x.indices, x.starts, x.ends, self.listed
            k.csr_gram(*X, s.first, s.last, w, s.sums.reshape(d, d))

        half = self.sum(np.zeros(d * d), add).reshape(d, d)  # column ≥ row
        k.mirror(half)
        return half


class DenseMatrix(Threaded):
    """One vector by loops that read each row once; several by BLAS, a block of rows at a time, and
    so too where the rows of X do not lie in memory one after the other.

    A processor guesses what is read next and brings it in, within a page. Where X is not in the
    cache and its rows are shorter than that, a Hessian product asks for the next rows itself."""

    def __init__(self, X: Any, threads: int, single: bool) -> None:
        X = np.asarray(X)
        self.X = readonly(X.astype(np.float32, copy=False) if single else X)
        super().__init__(X.shape, X.size, threads, f"dense {self.X.dtype}")
        self.ahead = self.X.nbytes >= CACHE and self.X[:1].nbytes <= PAGE

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

            def add(s: Share) -> None:
                k.dense_tdot(self.X, self.listed, s.first, s.last, U, s.sums.reshape(-1), square)

            return self.sum(out, add)
        for start, block in self.blocks():
            out += (block * block if square else block).T @ U[start : start + len(block)]
        return out

    def gram_dot(self, w: Array, V: Array) -> Array:
        w, V = self.checked("w", w, self.shape[0]), self.checked("V", V, self.shape[1])
        if self.by_rows(V):
            return self._gram_dot(w, V, None)
        out = np.zeros(V.shape)
        for start, block in self.blocks():
            Z = block @ V
            Z *= w[start : start + len(block)].reshape(-1, *[1] * (V.ndim - 1))
            out += block.T @ Z
        return out

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
        for start, block in self.blocks():
            out += block.T @ (block * w[start : start + len(block), None])
        return out


def unsigned(index: Array) -> Array:
    """The same memory; scipy's indices are never negative."""
    return readonly(np.asarray(index).view(f"u{index.dtype.itemsize}"))
