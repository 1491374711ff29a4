"""Loops over a range of columns of a matrix that is stored by columns: ``loops/columns.py``."""

from __future__ import annotations

import numpy as np

from uids.system.compiled import compiled
from uids.system.tuning import LONG_COLUMN

ZERO, ONE = np.uint64(0), np.uint64(1)


@compiled()
def by_length(counts, names, span):
    """The columns span by span, in each the longer first; from LONG_COLUMN on in any order."""
    heads = np.zeros(LONG_COLUMN + ONE, dtype=np.uint64)
    columns = np.uint64(counts.size)
    for begin in range(ZERO, columns, span):
        end = min(begin + span, columns)
        heads[:] = 0
        for c in range(begin, end):
            heads[LONG_COLUMN - min(LONG_COLUMN, np.uint64(counts[c]))] += ONE
        at = begin
        for length in range(heads.size):
            many = heads[length]
            heads[length] = at
            at += many
        for c in range(begin, end):
            length = LONG_COLUMN - min(LONG_COLUMN, np.uint64(counts[c]))
            names[heads[length]] = c
            heads[length] += ONE


@compiled()
def by_columns(data, indices, begins, ends, last, places, values, rows):
    """The entries of columns up to ``last`` to their ``places``, in row r from at_r on."""
    for r in range(np.uint64(begins.size)):
        j, stop = begins[r], np.uint64(ends[r])
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
