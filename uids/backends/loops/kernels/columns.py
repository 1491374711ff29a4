"""Loops over a range of columns of a matrix that is stored by columns: ``loops/columns.py``."""

from __future__ import annotations

import numpy as np

from uids.system.compiled import compiled
from uids.system.tuning import LONG_COLUMN

ZERO, ONE, FOUR = np.uint64(0), np.uint64(1), np.uint64(4)


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


@compiled()
def column_outer_dot_columns(data, rows, starts, first, last, U, out):
    """out += Σ_c x_c (x_cᵀ U) over some columns, for several vectors: four at a time stay in
    registers, and for the next four the column is in the cache."""
    width = np.uint64(U.shape[1])
    for c in range(first, last):
        begin, end = np.uint64(starts[c]), np.uint64(starts[c + ONE])
        k = ZERO
        while k + FOUR <= width:
            s = t = p = q = 0.0
            for j in range(begin, end):
                u = U[rows[j], k : k + FOUR]
                x = 1.0 if data is None else np.float64(data[j])
                s += x * u[0]
                t += x * u[1]
                p += x * u[2]
                q += x * u[3]
            for j in range(begin, end):
                x = 1.0 if data is None else np.float64(data[j])
                o = out[rows[j], k : k + FOUR]
                o[0] += x * s
                o[1] += x * t
                o[2] += x * p
                o[3] += x * q
            k += FOUR
        while k < width:
            s = 0.0
            for j in range(begin, end):
                s += (1.0 if data is None else np.float64(data[j])) * U[rows[j], k]
            for j in range(begin, end):
                out[rows[j], k] += (1.0 if data is None else np.float64(data[j])) * s
            k += ONE
