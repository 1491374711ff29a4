"""A CSR matrix of few rows and many columns stored by its columns, for the backend ``numba``.

By rows, Xᵀ u adds to a vector as long as the columns at random places. By columns it reads one as
long as the rows at random, which stays in the cache, and writes each sum once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uids.backends import Array
from uids.backends.loops import kernels as k
from uids.backends.loops.layout import Layout
from uids.backends.loops.threaded import readonly
from uids.system.compiled import compiled
from uids.system.memory import memory
from uids.system.threads import on_threads

ROWS = 2**16  # at most: their numbers take two bytes, and a vector of them half a megabyte
ENTRIES = 2**20  # stored, from which a solve wins back what storing them anew takes
SHARE = 8  # of the main memory, one part of which they may take
SPAN = 2**12  # columns that are sorted by length: their part of a vector stays in L1
LONG = np.uint64(64)  # entries of a column, from which the end of a loop over them costs nothing
COLUMN = 0.5  # what a column costs beside its entries, in entries
ZERO, ONE = np.uint64(0), np.uint64(1)


def pays(layout: Layout, columns: int) -> bool:
    rows, entries = len(layout.starts), len(layout.indices)
    width = 0 if layout.data is None else layout.data.itemsize
    fits = entries * (width + 2) <= memory() / SHARE
    return rows < ROWS and rows < columns and entries >= ENTRIES and fits


class Columns:
    """The entries of column ``names_c`` are those from starts_c to starts_{c+1}. Columns stay near
    their place: only within a span the longer come first, since loops whose lengths change from one
    to the next are mispredicted. Each thread has a range of columns, and sums of its own over them.
    """

    def __init__(self, layout: Layout, columns: int, threads: int) -> None:
        self.shape, self.threads = (len(layout.starts), columns), threads
        entries = len(layout.indices)
        counts = np.zeros(columns, dtype=np.uint32)
        k.count_columns(layout.indices, counts)
        names = np.empty(columns, dtype=np.uint32)
        by_length(counts, names, np.uint64(SPAN))
        self.names = readonly(names)
        starts = np.zeros(columns + 1, dtype=np.uint32 if entries < 2**32 else np.uint64)
        np.cumsum(counts[names], out=starts[1:])
        self.starts = readonly(starts)
        spans = np.append(np.arange(0, columns, SPAN), columns)
        work = starts[spans] + COLUMN * spans  # of which each thread has the same
        middle = np.linspace(0, work[-1], threads + 1)[1:-1]
        inner = spans[np.searchsorted(work, middle)]
        self.cuts = np.array([0, *inner, columns], dtype=np.uint64)
        places = np.empty_like(starts[:-1])
        places[names] = starts[:-1]
        rows = np.empty(entries, dtype=np.uint16)
        data = None if layout.data is None else np.empty_like(layout.data)

        def fill(t: int) -> None:
            at = np.empty(self.shape[0], dtype=np.uint64)
            first, last = self.cuts[t], self.cuts[t + 1]
            k.csr_split(layout.indices, layout.starts, layout.ends, first, at)
            by_columns(layout.data, layout.indices, at, layout.ends, last, places, data, rows)

        on_threads(fill, threads)
        self.entries = None if data is None else readonly(data), readonly(rows)
        self.sums = np.empty((threads, self.shape[0]))

    def tdot(self, u: Array, square: bool | None, out: Array) -> Array:
        """Xᵀ u, or that of X ∘ X."""
        u = readonly(u)

        def part(t: int) -> None:
            column_tdot(*self.entries, self.starts, self.names, *self.range(t), u, square, out)

        on_threads(part, self.threads)
        return out

    def outer_dot(self, u: Array) -> Array:
        """X Xᵀ u, with each column read once and no vector of the length of the columns."""
        u = readonly(u)

        def part(t: int) -> None:
            self.sums[t] = 0
            column_outer_dot(*self.entries, self.starts, *self.range(t), u, self.sums[t])

        on_threads(part, self.threads)
        return np.asarray(self.sums.sum(axis=0))

    def range(self, t: int) -> tuple[Any, Any]:
        return self.cuts[t], self.cuts[t + 1]


@compiled()
def by_length(counts, names, span):
    """The columns span by span, in each the longer first; from LONG on in any order."""
    heads = np.zeros(LONG + ONE, dtype=np.uint64)
    columns = np.uint64(counts.size)
    for begin in range(ZERO, columns, span):
        end = min(begin + span, columns)
        heads[:] = 0
        for c in range(begin, end):
            heads[LONG - min(LONG, np.uint64(counts[c]))] += ONE
        at = begin
        for length in range(heads.size):
            many = heads[length]
            heads[length] = at
            at += many
        for c in range(begin, end):
            length = LONG - min(LONG, np.uint64(counts[c]))
            names[heads[length]] = c
            heads[length] += ONE


@compiled()
def by_columns(data, indices, at, ends, last, places, values, rows):
    """The entries of columns up to ``last`` to their ``places``, in row r from at_r on."""
    for r in range(np.uint64(at.size)):
        j, stop = at[r], np.uint64(ends[r])
        while j < stop and indices[j] < last:
            c = indices[j]
            place = places[c]
            places[c] = place + 1
            rows[place] = r
            if data is not None:
                values[place] = data[j]
            j += ONE


@compiled()
def column_tdot(data, rows, starts, names, first, last, u, square, out):
    """out_c = x_cᵀ u for some columns; ``square`` as in the kernels by rows."""
    for c in range(first, last):
        z = 0.0
        for j in range(np.uint64(starts[c]), np.uint64(starts[c + ONE])):
            if data is None:
                z += u[rows[j]]
            else:
                x = np.float64(data[j])
                z += x * u[rows[j]] if square is None else x * x * u[rows[j]]
        out[names[c]] = z


@compiled()
def column_outer_dot(data, rows, starts, first, last, u, out):
    """out += Σ_c x_c (x_cᵀ u) over some columns."""
    for c in range(first, last):
        begin, end = np.uint64(starts[c]), np.uint64(starts[c + ONE])
        z = 0.0
        for j in range(begin, end):
            z += u[rows[j]] if data is None else data[j] * u[rows[j]]
        for j in range(begin, end):
            out[rows[j]] += z if data is None else z * data[j]
