"""The columns of a CSR matrix that many rows have, as a dense array: some dozens of words are half
of all entries of a text."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from uids.backends.matrix import Array
from uids.system.memory import memory
from uids.system.tuning import LOOPS

FREQUENT = 4  # one row in as many: a column that more of them have is quicker as a dense one
ENTRY = 32  # bytes that an entry may take: one number of 8 bytes for each of FREQUENT rows
WIDTH = 4.0  # times the root of the entries of a row: so many columns at most are handed out


def frequent(X: sp.csr_matrix) -> tuple[Array, Array]:
    """The entries of each column, and whether that is one in many rows."""
    counts = np.bincount(X.indices, minlength=X.shape[1])
    return counts, counts * FREQUENT > X.shape[0]


def dense_columns(X: sp.csr_matrix, columns: Array) -> Array:
    """Those, in float64, (n, m)."""
    return np.asarray(X[:, columns].toarray().astype(np.float64, copy=False))


def most_frequent(X: sp.csr_matrix) -> Array:
    """Of the frequent columns those of the largest values, (n, m): so few that products of all
    pairs of them take no more time than some products with X, and that they take less room than X,
    but where its rows have a handful of entries. None where there is no room."""
    n = X.shape[0]
    columns = np.flatnonzero(frequent(X)[1])
    most = int(WIDTH * (X.nnz / max(1, n)) ** 0.5)
    if len(columns) > most:
        some = X[:, columns]
        sizes = np.bincount(some.indices, some.data.astype(np.float64) ** 2, len(columns))
        columns = np.sort(columns[np.argpartition(-sizes, most)[:most]])
    if 8 * n * len(columns) > memory() / LOOPS.memory_share:
        columns = columns[:0]
    return dense_columns(X, columns)
