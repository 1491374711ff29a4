"""Loops over a range of rows of a dense matrix; ``loops/dense.py`` shares them out to threads.

``rows`` lists the rows of X that take part, in order; if it is empty, all do. Indices are unsigned,
as in ``csr.py``.
"""

from __future__ import annotations

import numpy as np

from uids.system.compiled import compiled, prefetch

ZERO, ONE, TWO, THREE, FOUR = (np.uint64(number) for number in range(5))
LINE = np.uint64(64)  # bytes of a line of the cache
STEP = 128  # columns, between which the next rows are prefetched
REORDER = {"reassoc", "contract", "nsz"}  # sums may be vectorised; NaN and infinity stay


@compiled(REORDER)
def dense_dot(X, rows, first, last, v, out):
    """out_i = x_iᵀ v."""
    listed = rows.size > 0
    for i in range(first, last):
        x = X[rows[i] if listed else i]
        z = 0.0
        for j in range(np.uint64(v.size)):
            z += x[j] * v[j]
        out[i] = z


@compiled(REORDER)
def dense_tdot(X, rows, first, last, u, out, square):
    """out += Σ_i u_i x_i."""
    listed = rows.size > 0
    for i in range(first, last):
        x = X[rows[i] if listed else i]
        z = u[i]
        for j in range(np.uint64(out.size)):
            y = np.float64(x[j])
            out[j] += z * y if square is None else z * y * y


@compiled(REORDER)
def dense_gram_dot(X, rows, first, last, w, v, out, scores, ahead):
    """out += Σ_i w_i (x_iᵀ v) x_i, four rows at a time: each is read from memory once, and v and
    out from the cache a quarter as often. Unless ``scores`` is None, x_iᵀ v goes there. ``ahead``
    has the next four prefetched meanwhile, see ``DenseMatrix``: two in either loop."""
    listed = rows.size > 0
    size, flat = np.uint64(v.size), X.reshape(-1)
    line = LINE // np.uint64(X.itemsize)
    step = np.uint64(STEP) if ahead else size
    i = first
    while i + FOUR <= last:
        a = X[rows[i] if listed else i]
        b = X[rows[i + ONE] if listed else i + ONE]
        c = X[rows[i + TWO] if listed else i + TWO]
        d = X[rows[i + THREE] if listed else i + THREE]
        # Where the next four begin; the second of each two less what is prefetched of the first.
        n = min(i + FOUR, last - FOUR)
        e = (rows[n] if listed else n) * size
        f = (rows[n + ONE] if listed else n + ONE) * size - size
        g = (rows[n + TWO] if listed else n + TWO) * size
        h = (rows[n + THREE] if listed else n + THREE) * size - size
        s = t = p = q = 0.0
        for begin in range(ZERO, size, step):
            end = min(size, begin + step)
            if ahead:
                base = e if TWO * begin < size else f
                for j in range(base + TWO * begin, base + TWO * end, line):
                    prefetch(flat, j)
            for j in range(begin, end):
                s += a[j] * v[j]
                t += b[j] * v[j]
                p += c[j] * v[j]
                q += d[j] * v[j]
        if scores is not None:
            scores[i], scores[i + ONE], scores[i + TWO], scores[i + THREE] = s, t, p, q
        s *= w[i]
        t *= w[i + ONE]
        p *= w[i + TWO]
        q *= w[i + THREE]
        for begin in range(ZERO, size, step):
            end = min(size, begin + step)
            if ahead:
                base = g if TWO * begin < size else h
                for j in range(base + TWO * begin, base + TWO * end, line):
                    prefetch(flat, j)
            for j in range(begin, end):
                out[j] += s * a[j] + t * b[j] + p * c[j] + q * d[j]
        i += FOUR
    while i < last:
        a = X[rows[i] if listed else i]
        s = 0.0
        for j in range(size):
            s += a[j] * v[j]
        if scores is not None:
            scores[i] = s
        s *= w[i]
        for j in range(size):
            out[j] += s * a[j]
        i += ONE
