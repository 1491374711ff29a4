"""Whether a column of numbers is rather an id: whole numbers, nearly each row with one of its own.

Text of that kind is refused. A number may still be an amount or a moment that happens to differ
from row to row, and so it is told, and learned from all the same."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from uids.datasets.columns.category import ID_SHARE, LEAST_IDS
from uids.datasets.columns.column import Array

FIRST = 2**16  # values that are looked at
DENSE = 2  # times as many whole numbers as rows, within which numbers that all differ are counted


@dataclass
class FirstValues:
    """The first known values of a column, in the order of the file."""

    parts: list[Array] = field(default_factory=list)
    count: int = 0

    def learn(self, values: Array) -> None:
        if self.count < FIRST:
            known = values[~np.isnan(values)][: FIRST - self.count]
            self.parts.append(known)
            self.count += len(known)

    def told(self) -> tuple[str, bool]:
        """A sentence where they look like ids, else "", and whether one can be sure: they are
        counted through, or go up or down from row to row."""
        values = np.concatenate(self.parts) if self.parts else np.zeros(0)
        distinct = np.unique(values)
        few = len(distinct) < LEAST_IDS or len(distinct) <= ID_SHARE * len(values)
        if few or (values != np.floor(values)).any():
            return "", False
        steps = np.diff(values)
        in_order = bool((steps > 0).all() or (steps < 0).all())
        counted = bool(distinct[-1] - distinct[0] < DENSE * len(values))
        first = "the first " if len(values) == FIRST else ""
        sentence = f"{len(distinct):,} whole numbers in {first}{len(values):,} rows; an id?"
        return sentence, in_order or counted
