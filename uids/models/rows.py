"""Rows as a model sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from uids.backends import Array, Matrix, read_only, stack
from uids.system.display import line


@dataclass(frozen=True, repr=False)
class Rows:
    """X through a backend, y in 0..K−1, K; where there are no classes y are numbers, and K is 0. y
    cannot be changed in place."""

    X: Matrix
    y: Array
    classes: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "y", read_only(self.y))

    @property
    def strata(self) -> npt.NDArray[np.int64]:
        """What rows are kept apart by where classes are to be evenly shared out: the classes, or
        one stratum of all rows."""
        return self.y if self.classes else np.zeros(len(self.y), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        n, d = self.X.shape
        return line("Rows", {"rows": n, "features": d, "classes": self.classes})

    def take(self, index: Array) -> Rows:
        return Rows(self.X.rows(index), self.y[index], self.classes)


def stacked(first: Rows, second: Rows) -> Rows:
    """One below the other, each where it lies."""
    y = np.concatenate([first.y, second.y])
    return Rows(stack(first.X, second.X), y, first.classes)
