"""Rows as a model sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from uids.backends import Array, Matrix, stack
from uids.system.display import line


@dataclass(frozen=True, repr=False)
class Rows:
    """X through a backend, y in 0..K−1, K."""

    X: Matrix
    y: npt.NDArray[np.int64]
    classes: int

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
