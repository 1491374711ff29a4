"""Products with a CSR matrix, for the backend numba."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uids.backends.host import Host
from uids.backends.loops.columns import Columns, pays
from uids.backends.loops.kernels import csr as k
from uids.backends.loops.kernels import sums as sum_kernels
from uids.backends.loops.layout import Layout, permuted, release
from uids.backends.loops.scratch import readonly
from uids.backends.loops.threaded import ALL_ROWS, Share, Threaded
from uids.backends.matrix import Array, Matrix
from uids.system.tuning import LOOPS, Loops

ZERO = np.uint64(0)


@dataclass
class Forms:
    """The entries, as the loops for one vector and for several read them: one for a matrix and all
    its views."""

    rows: Layout
    columns: Columns | None = None
    products: int = 0  # made so far


class SparseMatrix(Threaded):
    """CSR, whose rows the threads share out. Hessian products store anew what that pays for: few
    rows of many columns by columns, after some products (``Columns``), and large 0/1 data with
    their columns renamed by frequency (``Layout``)."""

    def __init__(self, X: Any, threads: int, single: bool, tuning: Loops = LOOPS) -> None:
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
        super().__init__(Host(X), threads, kind)
        self.single, self.tuning = single, tuning
        indptr = unsigned(X.indptr)
        data = None if ones else values
        self.original = Layout(data, unsigned(X.indices), indptr[:-1], indptr[1:])
        self.forms = Forms(self.original)
        distance = tuning.prefetch_distance * X.shape[0]
        far = X.shape[1] >= tuning.prefetch_columns and 0 < self.entries < distance
        self.ahead = np.uint64(-(-distance // self.entries) if far else 0)

    def like(self, X: Any) -> Matrix:
        return SparseMatrix(X, self.threads, self.single, self.tuning)

    def uses_blas(self, columns: int) -> bool:
        return False

    @property
    def all_ones(self) -> bool:
        return self.original.data is None

    @property
    def layout(self) -> Layout:
        return self.forms.rows

    def store(self, by_columns: bool = False) -> None:
        """As it pays for many products; by columns after a few, or at once."""
        with self.scratch:
            d = self.shape[1]
            self.forms.products += 1
            if pays(self.original, d, self.tuning):
                now = by_columns or self.forms.products > self.tuning.column_patience
                if now and self.forms.columns is None:
                    span = self.tuning.column_span
                    self.forms.columns = Columns(self.original, d, self.threads, span)
            elif self.layout.pays_renaming(d, self.tuning):
                self.forms.rows = self.layout.by_frequency(d, self.threads)

    def column_form(self, V: Array) -> Columns | None:
        """For one vector, unless the view has less than half the entries: columns have all."""
        return self.columns_of_most() if V.ndim == 1 else None

    def columns_of_most(self) -> Columns | None:
        half = 2 * self.entries >= len(self.original.indices)
        return self.forms.columns if half else None

    def among_all(self, u: Array) -> Array:
        """Numbers of the listed rows as those of all rows, 0 for the others."""
        if self.listed is ALL_ROWS:
            return u
        index, n = self.listed.view(np.int64), len(self.original.starts)
        if u.ndim == 1:
            return np.bincount(index, u, n)
        return np.stack([np.bincount(index, each, n) for each in u.T], axis=1)

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
            columns = self.column_form(U)
            if columns:
                return columns.tdot(self.among_all(U), square, self.scratch.result(self.shape[1]))
            x = self.layout

            def add(s: Share) -> None:
                self._tdot(x, s, s.first, s.last, U, ZERO, s.begin, square)

            return self.column_sums((self.shape[1], *U.shape[1:]), add)

    def gram_dot(self, w: Array, V: Array) -> Array:
        """Xᵀ (w ∘ (X V)) in two loops over many rows. In one loop X would be read once, but V and
        the sums would share the cache, and it is they that miss it."""
        w, V = self.checked("w", w, self.shape[0]), self.checked("V", V, self.shape[1])
        self.store()
        with self.scratch:
            columns = self.column_form(V)
            if columns:
                x, u = self.original, self.scratch.empty("scores", self.shape[0])
                self.each(lambda first, last: self._dot(x, first, last, V, w, u, ZERO))
                return columns.tdot(self.among_all(u), None, self.scratch.result(*V.shape))
            x, V = self.layout, self.placed(V)

            def add(s: Share) -> None:
                width = int(s.width)  # int // uint64 is a float by the rules that numba 0.61 sets
                Z = s.steps if V.ndim == 1 else s.steps[: len(s.steps) // width * width]
                Z = Z.reshape(-1, *[width] * (V.ndim - 1))
                for start in range(s.first, s.last, len(Z)):
                    end = min(int(s.last), start + len(Z))
                    base, to = np.uint64(start), np.uint64(end)
                    self._dot(x, base, to, V, w, Z, base, s.begin, ZERO, s.width)
                    self._tdot(x, s, base, to, Z, base, ZERO, None)

            return self.column_sums(V.shape, add)

    def outer_dot(self, u: Array) -> Array:
        u = self.checked("u", u, self.shape[0])
        self.store(by_columns=True)
        with self.scratch:
            columns = self.columns_of_most()
            if columns:
                products = columns.outer_dot(self.among_all(u))
                return products if self.listed is ALL_ROWS else products[self.listed]
        return self.dot(self.tdot(u))

    def placed(self, V: Array) -> Array:
        """V with its columns where the layout has them."""
        if self.layout.permutation is None:
            return V
        room = self.scratch.empty("V", *V.shape)
        return readonly(permuted(V, self.layout.permutation, room, self.threads))

    def column_sums(self, shape: tuple[int, ...], add: Callable[[Share], None]) -> Array:
        """The sums over rows, one for each column, in the columns' own order."""
        out, inverse = self.scratch.result(*shape), self.layout.inverse
        sums = out if inverse is None else self.scratch.empty("columns", *shape)
        sums[:] = 0
        self.sum(sums, add)
        return sums if inverse is None else permuted(sums, inverse, out, self.threads)

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
            k.csr_tdot_columns(*X, first, last, U, s.sums, base, begin, s.offset, s.width, square)

    def gram(self, w: Array) -> Array:
        w = self.checked("w", w, self.shape[0])
        d, x = self.shape[1], self.original  # whose indices are sorted

        def add(s: Share) -> None:
            X = x.data, x.indices, x.starts, x.ends, self.listed
            k.csr_gram(*X, s.first, s.last, w, s.sums.reshape(d, d))

        half = self.sum(np.zeros(d * d), add).reshape(d, d)  # column ≥ row
        sum_kernels.mirror(half)
        return half


def unsigned(index: Array) -> Array:
    """The same memory; scipy's indices are never negative."""
    return readonly(np.asarray(index).view(f"u{index.dtype.itemsize}"))
