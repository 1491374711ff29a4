"""The columns of a CSR matrix that many rows have, as a dense array: some dozens of words are half
of all entries of a text."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from uids.backends.matrix import Array

FREQUENT = 4  # one row in as many: a column that more of them have is quicker as a dense one
ENTRY = 32  # bytes that an entry may take: one number of 8 bytes for each of FREQUENT rows


def frequent_columns(X: sp.csr_matrix) -> tuple[Array, Array, Array]:
    """The entries of each column, whether that is one in many rows, and those columns in float64,
    (n, m)."""
    counts = np.bincount(X.indices, minlength=X.shape[1])
    many = counts * FREQUENT > X.shape[0]
    F = X[:, np.flatnonzero(many)].toarray().astype(np.float64, copy=False)
    return counts, many, F
