"""How strange the values of a training row are beside rows that can be trusted.

That validation rows are right is the premise of all influence, and so they are what strangeness is
measured by. Beside training rows it would be too small just where it matters: a sensor that fails
in a tenth of the rows widens what is typical of its column. Two things can make validation rows
the wrong measure of a column. They may lie elsewhere as a whole, as where they are later and the
column is a date: then every training row is strange, which explains none of them, and so the
strangeness is told in units of that of the middle training row. And too few of them may have any
value but one to have a spread: then the column is measured by the training rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from uids.backends import Array
from uids.models import Rows
from uids.scoring.typical import NUMBERS, Typical, dense, typical_values

TRUSTED = 64  # validation rows from which on strangeness is measured by them


@dataclass(frozen=True)
class Trusted:
    """What is typical of validation rows, and ``usual``, (c,): the median over harmless training
    rows of their strangeness beside these, at least 1."""

    typical: Typical
    usual: Array

    @property
    def spread_is_known(self) -> npt.NDArray[np.bool_]:
        return (self.typical.spread > 0) & np.isfinite(self.typical.spread)

    def strangeness(self, X: Array, y: npt.NDArray[np.int64], otherwise: Array) -> Array:
        """(rows, c), in spreads; ``otherwise`` where validation rows do not tell."""
        strange = self.typical.strangeness(self.typical.distance(X, y)) / self.usual
        return np.where(self.spread_is_known, strange, otherwise)


def trusted_values(validation: Rows, harmless: Rows, columns: npt.NDArray[np.int64]) -> Trusted:
    """For these columns; ``harmless`` are training rows."""
    all_of_them = len(columns) == validation.X.shape[1]
    typical = typical_values(validation, None if all_of_them else columns)
    width = len(columns) if typical.precision is not None else NUMBERS // max(1, len(harmless))
    usual = [
        np.median(
            part.strangeness(part.distance(dense(harmless, part.columns), harmless.strata)), 0
        )
        for part in typical.in_parts(max(1, width))
    ]
    return Trusted(typical, np.maximum(1.0, np.concatenate(usual)))
