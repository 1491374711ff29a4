"""A CSR matrix of few rows and many columns stored by its columns, for the backend ``numba``.

By rows, Xᵀ u adds to a vector as long as the columns at random places. By columns it reads one as
long as the rows at random, which stays in the cache, and writes each sum once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uids.backends.loops.kernels import columns as k
from uids.backends.loops.kernels import csr
from uids.backends.loops.layout import Layout
from uids.backends.loops.scratch import readonly
from uids.backends.matrix import Array
from uids.system.memory import memory
from uids.system.threads import on_threads
from uids.system.tuning import COLUMN_COST, Loops


def pays(layout: Layout, columns: int, tuning: Loops) -> bool:
    rows, entries = len(layout.starts), len(layout.indices)
    width = 0 if layout.data is None else layout.data.itemsize
    fits = entries * (width + 2) <= memory() / tuning.memory_share
    few = rows < tuning.column_rows and rows < columns
    return few and entries >= tuning.column_entries and fits


class Columns:
    """The entries of column ``names_c`` are those from starts_c to starts_{c+1}. Columns stay near
    their place: only within a span the longer come first, since loops whose lengths change from one
    to the next are mispredicted. Each thread has a range of columns, and sums of its own over them.
    """

    def __init__(self, layout: Layout, columns: int, threads: int, span: int) -> None:
        self.shape, self.threads = (len(layout.starts), columns), threads
        entries = len(layout.indices)
        counts = np.zeros(columns, dtype=np.uint32)
        csr.count_columns(layout.indices, counts)
        names = np.empty(columns, dtype=np.uint32)
        k.by_length(counts, names, np.uint64(span))
        self.names = readonly(names)
        starts = np.zeros(columns + 1, dtype=np.uint32 if entries < 2**32 else np.uint64)
        np.cumsum(counts[names], out=starts[1:])
        self.starts = readonly(starts)
        spans = np.append(np.arange(0, columns, span), columns)
        work = starts[spans] + COLUMN_COST * spans  # of which each thread has the same
        middle = np.linspace(0, work[-1], threads + 1)[1:-1]
        inner = spans[np.searchsorted(work, middle)]
        self.cuts = np.array([0, *inner, columns], dtype=np.uint64)
        places = np.empty_like(starts[:-1])
        places[names] = starts[:-1]
        rows = np.empty(entries, dtype=np.uint16)
        data = None if layout.data is None else np.empty_like(layout.data)

        def fill(t: int) -> None:
            begins = np.empty(self.shape[0], dtype=np.uint64)
            first, last = self.cuts[t], self.cuts[t + 1]
            csr.csr_split(layout.indices, layout.starts, layout.ends, first, begins)
            k.by_columns(layout.data, layout.indices, begins, layout.ends, last, places, data, rows)

        on_threads(fill, threads)
        self.entries = None if data is None else readonly(data), readonly(rows)
        self.sums = np.empty((threads, self.shape[0]))

    def tdot(self, u: Array, square: bool | None, out: Array) -> Array:
        """Xᵀ u, or that of X ∘ X."""
        u = readonly(u)

        def part(t: int) -> None:
            k.column_tdot(*self.entries, self.starts, self.names, *self.range(t), u, square, out)

        on_threads(part, self.threads)
        return out

    def outer_dot(self, u: Array) -> Array:
        """X Xᵀ u, with each column read once and no vector of the length of the columns."""
        u = readonly(u)

        one = u.ndim == 1
        kernel = k.column_outer_dot if one else k.column_outer_dot_columns
        sums = self.sums if one else np.empty((self.threads, *u.shape))

        def part(t: int) -> None:
            sums[t] = 0
            kernel(*self.entries, self.starts, *self.range(t), u, sums[t])

        on_threads(part, self.threads)
        return np.asarray(sums.sum(axis=0))

    def range(self, t: int) -> tuple[Any, Any]:
        return self.cuts[t], self.cuts[t + 1]
