"""Loops over a range of rows of a CSR matrix; ``loops/sparse.py`` shares them out to threads.

All read X as it lies in memory. The entries of row r are starts_r to ends_r. ``data`` is None where
every stored value is 1: the values are then never read. Where ``square`` is not None each value is
squared. (A test for None costs nothing: it is decided when numba compiles.) ``rows`` lists the rows
of X that take part, in order; if it is empty, all do. Row i of the range is row i of the result,
which begins at row ``base``. The numbers that row i + ``ahead`` needs are prefetched while row i is
worked on, unless that is 0. Indices are unsigned, since numba tests signed ones for wrap-around,
and that takes longer than the products.
"""

from __future__ import annotations

import numpy as np

from uids.system.compiled import compiled, prefetch

ZERO, ONE, FOUR = np.uint64(0), np.uint64(1), np.uint64(4)


@compiled()
def csr_dot(data, indices, starts, ends, rows, first, last, v, w, out, base, ahead):
    """out_i = w_i x_iᵀ v; w may be None."""
    listed = rows.size > 0
    for i in range(first, last):
        n = min(i + ahead, last - ONE)
        r = rows[n] if listed else n
        soon, end = np.uint64(starts[r]), np.uint64(ends[r]) - ONE
        r = rows[i] if listed else i
        z = 0.0
        for j in range(np.uint64(starts[r]), np.uint64(ends[r])):
            if ahead > ZERO:
                prefetch(v, indices[min(soon, end)])
                soon += ONE
            if data is None:
                z += v[indices[j]]
            else:
                z += data[j] * v[indices[j]]
        out[i - base] = z if w is None else z * w[i]


@compiled()
def csr_tdot(data, indices, starts, ends, rows, first, last, u, out, base, square, ahead):
    """out += Σ_i u_i x_i."""
    listed = rows.size > 0
    for i in range(first, last):
        n = min(i + ahead, last - ONE)
        r = rows[n] if listed else n
        soon, end = np.uint64(starts[r]), np.uint64(ends[r]) - ONE
        r = rows[i] if listed else i
        z = u[i - base]
        for j in range(np.uint64(starts[r]), np.uint64(ends[r])):
            if ahead > ZERO:
                prefetch(out, indices[min(soon, end)])
                soon += ONE
            if data is None:
                out[indices[j]] += z
            else:
                x = np.float64(data[j])
                out[indices[j]] += z * x if square is None else z * x * x


@compiled()
def csr_dot_columns(
    data, indices, starts, ends, rows, first, last, V, w, out, base, begin, offset, width
):
    """``csr_dot`` for ``width`` columns of V from ``begin`` on, into those of out from ``offset``
    on. Four at a time stay in registers, and for the next four the row is in the cache."""
    listed = rows.size > 0
    for i in range(first, last):
        r = rows[i] if listed else i
        start, end = np.uint64(starts[r]), np.uint64(ends[r])
        scale = 1.0 if w is None else w[i]
        c = np.uint64(0)
        while c + FOUR <= width:
            s = t = p = q = 0.0
            for j in range(start, end):
                v = V[indices[j], begin + c : begin + c + FOUR]
                x = 1.0 if data is None else np.float64(data[j])
                s += x * v[0]
                t += x * v[1]
                p += x * v[2]
                q += x * v[3]
            o = out[i - base, offset + c : offset + c + FOUR]
            o[0] = scale * s
            o[1] = scale * t
            o[2] = scale * p
            o[3] = scale * q
            c += FOUR
        while c < width:
            s = 0.0
            for j in range(start, end):
                x = 1.0 if data is None else np.float64(data[j])
                s += x * V[indices[j], begin + c]
            out[i - base, offset + c] = scale * s
            c += ONE


@compiled()
def csr_tdot_columns(
    data, indices, starts, ends, rows, first, last, U, out, base, begin, offset, width, square
):
    """``csr_tdot`` for ``width`` columns of U from ``begin`` on, likewise."""
    listed = rows.size > 0
    for i in range(first, last):
        r = rows[i] if listed else i
        start, end = np.uint64(starts[r]), np.uint64(ends[r])
        c = np.uint64(0)
        while c + FOUR <= width:
            u = U[i - base, begin + c : begin + c + FOUR]
            s, t, p, q = u[0], u[1], u[2], u[3]
            for j in range(start, end):
                x = 1.0 if data is None else np.float64(data[j])
                if square is not None:
                    x *= x
                o = out[indices[j], offset + c : offset + c + FOUR]
                o[0] += x * s
                o[1] += x * t
                o[2] += x * p
                o[3] += x * q
            c += FOUR
        while c < width:
            s = U[i - base, begin + c]
            for j in range(start, end):
                x = 1.0 if data is None else np.float64(data[j])
                if square is not None:
                    x *= x
                out[indices[j], offset + c] += x * s
            c += ONE


@compiled()
def csr_gram(data, indices, starts, ends, rows, first, last, w, out):
    """out += Σ_i w_i x_i x_iᵀ, of which only the half with column ≥ row (indices are sorted)."""
    listed = rows.size > 0
    for i in range(first, last):
        r = rows[i] if listed else i
        end = np.uint64(ends[r])
        for j in range(np.uint64(starts[r]), end):
            z = w[i] if data is None else w[i] * data[j]
            row = out[indices[j]]
            for k in range(j, end):
                row[indices[k]] += z if data is None else z * data[k]


@compiled()
def csr_cuts(starts, ends, rows, count, total, cuts):
    """Cuts of the ``count`` rows into len(cuts) − 1 ranges of about as many stored entries."""
    listed = rows.size > 0
    ranges = cuts.size - 1
    seen = np.uint64(0)
    t = 1
    for i in range(count):
        while t < ranges and seen * np.uint64(ranges) >= total * np.uint64(t):
            cuts[t] = i
            t += 1
        r = rows[i] if listed else i
        seen += np.uint64(ends[r]) - np.uint64(starts[r])
    while t <= ranges:
        cuts[t] = count
        t += 1


@compiled()
def csr_split(indices, starts, ends, column, out):
    """out_r = where in row r the columns from ``column`` on begin; indices are sorted."""
    for r in range(np.uint64(out.size)):
        low, high = np.uint64(starts[r]), np.uint64(ends[r])
        while low < high:
            middle = (low + high) >> ONE
            if indices[middle] < column:
                low = middle + ONE
            else:
                high = middle
        out[r] = low


@compiled()
def count_columns(indices, counts):
    """counts += how often each column occurs."""
    for j in indices:
        counts[j] += 1


@compiled()
def rename(indices, names, first, last, out):
    """out_j = the name of the column indices_j, for some entries."""
    for j in range(first, last):
        out[j] = names[indices[j]]


@compiled()
def stored(starts, ends, rows):
    """How many entries the listed rows store."""
    total = np.uint64(0)
    for r in rows:
        total += np.uint64(ends[r]) - np.uint64(starts[r])
    return total


@compiled()
def all_ones(data):
    for value in data:  # noqa: SIM110
        if value != 1.0:
            return False
    return True
