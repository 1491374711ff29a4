"""The nearest rows of another label, in standardised distance.

Dense columns are standardised by their standard deviation, sparse ones by the root mean square of
their stored values: by the former, a rare word would outweigh all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from uids.backends import Array
from uids.models import Rows

NUMBERS = 2**22  # stored, that are fetched together: 32 MiB
ROWS = 2**17  # that are looked at, at most
TOGETHER = 2**22  # distances that are held at once

Found = list[tuple[npt.NDArray[np.int64], Array]]  # of each row: places, and distances


def rows_wanted(rows: Rows) -> int:
    """How many rows may be looked at."""
    each = max(1, rows.X.stored // max(1, len(rows)))
    return min(ROWS, max(1, NUMBERS // each))


@dataclass(frozen=True)
class Neighbourhood:
    """The rows that are looked at."""

    rows: Rows

    @cached_property
    def scale(self) -> Array:
        """What each column is divided by, (d,)."""
        X = self.rows.X.fetch()
        if isinstance(X, np.ndarray):
            scale = X.std(axis=0, dtype=np.float64)
        else:
            squares = np.asarray(X.multiply(X).sum(axis=0, dtype=np.float64)).ravel()
            scale = np.sqrt(squares / np.maximum(X.getnnz(axis=0), 1))
        return np.where(scale > 0, scale, 1.0)

    def standardised(self, rows: Rows) -> Array | sp.csr_matrix:
        X = rows.X.fetch()
        if isinstance(X, np.ndarray):
            return X / self.scale
        return sp.csr_matrix((X.data / self.scale[X.indices], X.indices, X.indptr), shape=X.shape)

    @cached_property
    def _X(self) -> Array | sp.csr_matrix:
        return self.standardised(self.rows)

    @cached_property
    def _squares(self) -> Array:
        return row_squares(self._X)

    def nearest(self, rows: Rows, count: int) -> Found:
        """For each of ``rows`` the nearest whose label is another, the very nearest first."""
        if not len(self.rows):
            return [(np.empty(0, dtype=np.int64), np.empty(0))] * len(rows)
        A, found = self.standardised(rows), []
        height = max(1, TOGETHER // len(self.rows))
        for first in range(0, len(rows), height):
            D = self._squares - 2 * as_array(A[first : first + height] @ self._X.T)  # less ‖a‖²
            D[rows.y[first : first + height, None] == self.rows.y] = np.inf
            count = min(count, len(self.rows))
            best = np.argpartition(D, count - 1, axis=1)[:, :count]
            for row, (places, far) in enumerate(zip(best, D, strict=True), start=first):
                found.append(self._measured(places[np.isfinite(far[places])], A, row))
        return found

    def _measured(
        self, places: npt.NDArray[np.int64], A: Array | sp.csr_matrix, row: int
    ) -> tuple[npt.NDArray[np.int64], Array]:
        """In order, by the differences: close to 0, the products are all rounding."""
        distance = np.sqrt(row_squares(self._X[places] - A[np.full(len(places), row)]))
        order = np.lexsort((places, distance))
        return places[order], distance[order]


def row_squares(X: Array | sp.csr_matrix) -> Array:
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def as_array(X: Array | sp.csr_matrix) -> Array:
    return X if isinstance(X, np.ndarray) else np.asarray(X.toarray())
