"""Compiled loops that put together what threads have added up each on its own."""

from __future__ import annotations

import numpy as np

from uids.system.compiled import compiled

ONE = np.uint64(1)
SQUARE = np.uint64(32)  # rows and columns of a tile that stays in the cache


@compiled()
def collect(parts, first, last, out, offset):
    """Columns of out from ``offset`` on += Σ_t parts_t for the rows first:last, always in the same
    order; the parts are zero again."""
    width = np.uint64(parts.shape[2])
    flat = width == np.uint64(out.shape[1])
    for t in range(parts.shape[0]):
        if flat:
            whole, part = out.reshape(-1), parts[t].reshape(-1)
            for j in range(first * width, last * width):
                whole[j] += part[j]
                part[j] = 0.0
        else:
            for j in range(first, last):
                for c in range(width):
                    out[j, offset + c] += parts[t, j, c]
                    parts[t, j, c] = 0.0


@compiled()
def mirror(A):
    """A_ij = A_ji for j < i, square by square: both stay in the cache."""
    n = np.uint64(A.shape[0])
    for top in range(np.uint64(0), n, SQUARE):
        for left in range(np.uint64(0), top + ONE, SQUARE):
            for i in range(top, min(n, top + SQUARE)):
                for j in range(left, min(i, left + SQUARE)):
                    A[i, j] = A[j, i]
