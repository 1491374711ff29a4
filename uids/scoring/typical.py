"""Which values are typical of rows, and how strange those of another row are beside them.

A feature's typical value is its median over rows of the same label, its spread the median distance
from that over the rows that have another value: of a 0/1 column the typical value is 0 or 1, the
spread the difference, and neither moves because some rows hold nonsense. Where there are few
columns, the strangeness of a value is its distance from what the row's *other* values make one
expect, as by a linear regression of each feature on the others: with Z the distances in spreads,
clipped, and P = (ZᵀZ/n + ridge I)⁻¹, that of value j in row z is |(P z)_j| / √P_jj (in spreads that
are left unexplained). Else it is |z_j|.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from uids.backends import Array
from uids.models import Rows

FEW_COLUMNS = 512  # up to which a feature is compared with what the others say
NUMBERS = 2**22  # that are made dense together, 32 MiB
ROWS = 4096  # that are enough for medians
NORMAL = 1.4826  # standard deviations of a normal distribution in a median distance from its median
CLIP = 3.0  # spreads, beyond which a value says nothing about how features go together
RIDGE = 0.1  # on correlations
ENOUGH = 10  # rows with another value, from which on a spread is one


@dataclass(frozen=True)
class Typical:
    """Of the columns in ``columns``, (c,)."""

    columns: npt.NDArray[np.int64]
    median: Array  # (K, c)
    spread: Array  # (c,); 0 where all rows have the median, ∞ where too few have another value
    precision: Array | None  # P, (c, c)
    unseen: float  # strangeness of any other value where the spread is 0

    def distance(self, X: Array, y: npt.NDArray[np.int64]) -> Array:
        """x − typical, (rows, c)."""
        return X - self.median[y]

    def in_parts(self, width: int) -> Iterator[Typical]:
        """Of at most so many columns each; those that are compared with others stay together."""
        if self.precision is not None or len(self.columns) <= width:
            yield self
            return
        for first in range(0, len(self.columns), width):
            part = slice(first, first + width)
            columns, median = self.columns[part], self.median[:, part]
            yield replace(self, columns=columns, median=median, spread=self.spread[part])

    def strangeness(self, distance: Array) -> Array:
        """In spreads, (rows, c)."""
        spread = np.where(self.spread > 0, self.spread, np.inf)
        Z = distance / spread
        strange = np.abs(Z)
        if self.precision is not None:
            strange = np.abs(Z @ self.precision) / np.sqrt(np.diag(self.precision))
        return np.where((self.spread == 0) & (distance != 0), self.unseen, strange)


def rows_wanted(rows: Rows) -> int:
    """How many rows medians are to be taken over."""
    d = rows.X.shape[1]
    return ROWS if rows.X.sparse and d > FEW_COLUMNS else min(ROWS, max(2, NUMBERS // d))


def typical_values(rows: Rows, columns: npt.NDArray[np.int64] | None) -> Typical:
    """Over these rows, for all columns (None) or for some of many."""
    chosen = np.arange(rows.X.shape[1]) if columns is None else columns
    width = max(1, NUMBERS // max(1, len(rows)))
    medians, spreads, precision = [], [], None
    for first in range(0, len(chosen), width):
        X = dense(rows, chosen[first : first + width])
        median = medians_of(X, rows)
        X -= median[rows.strata]
        medians.append(median)
        spreads.append(spreads_of(X))
    median, spread = np.hstack(medians), np.concatenate(spreads)
    if columns is None and len(chosen) <= min(width, FEW_COLUMNS):
        Z = X / np.where(spread > 0, spread, np.inf)
        np.clip(Z, -CLIP, CLIP, out=Z)
        precision = np.linalg.inv(Z.T @ Z / len(Z) + RIDGE * np.eye(len(chosen)))
    # A column that is constant in dense rows is meant to be; of sparse ones too few were seen.
    return Typical(chosen, median, spread, precision, 0.0 if rows.X.sparse else np.inf)


def dense(rows: Rows, columns: npt.NDArray[np.int64]) -> Array:
    """Some columns of these rows, as an array that may be changed."""
    all_of_them = len(columns) == rows.X.shape[1]
    X = (rows.X if all_of_them else rows.X.columns(columns)).fetch()
    return np.array(X.toarray() if rows.X.sparse else X, dtype=np.float64)


def medians_of(X: Array, rows: Rows) -> Array:
    """(K, c); over all rows for a label that none of them has."""
    medians = np.repeat([np.median(X, axis=0)], max(1, rows.classes), axis=0)
    for label in np.unique(rows.strata):
        medians[label] = np.median(X[rows.strata == label], axis=0)
    return medians


def spreads_of(distance: Array) -> Array:
    """The median of |distance| over the rows where it is not 0, as a standard deviation, (c,)."""
    D = np.abs(distance)
    other = (D > 0).sum(axis=0)
    D[D == 0] = np.inf
    D.sort(axis=0)
    middle = D[np.maximum(other - 1, 0) // 2, np.arange(D.shape[1])]
    return np.where(other >= ENOUGH, NORMAL * middle, np.where(other > 0, np.inf, 0.0))
