"""Columns of numbers, and of true and false."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from uids.datasets.columns.column import Array, Cells, Column, State


@dataclass
class Moments:
    """Mean and variance, batch by batch (Chan, Golub and LeVeque 1979)."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0  # Σ (x − mean)²
    low: float = np.inf
    high: float = -np.inf
    missing: int = 0

    def learn(self, values: Array) -> None:
        known = values[~np.isnan(values)]
        self.missing += len(values) - len(known)
        if not len(known):
            return
        count, shift = len(known), known.mean() - self.mean
        total = self.count + count
        self.squares += float(((known - known.mean()) ** 2).sum())
        self.squares += float(shift**2 * self.count * count / total)
        self.mean += float(shift * count / total)
        self.count = total
        self.low, self.high = min(self.low, known.min()), max(self.high, known.max())

    @property
    def constant(self) -> bool:
        # Rounding could give a constant column some variance; squares below 1e-323 vanish.
        return not (self.low < self.high and self.squares > 0)

    def scaled(self, values: Array) -> Array:
        """(x − mean) / deviation; 0 where x is missing, and everywhere if it was constant."""
        if self.constant:
            return np.zeros(len(values))
        scaled = (values - self.mean) / np.sqrt(self.squares / self.count)
        return np.where(np.isnan(scaled), 0.0, scaled)

    def note(self) -> str:
        parts = [f"{self.missing:,} missing, as the mean"] if self.missing else []
        if self.count and self.constant:
            parts.append("constant, as 0")
        return "; ".join(parts) if self.count else "all missing, as 0"

    def state(self) -> State:
        names = ("count", "mean", "squares", "low", "high", "missing")
        return State({}, {"moments": np.array([getattr(self, name) for name in names], float)})

    @classmethod
    def restored(cls, state: State) -> Moments:
        count, mean, squares, low, high, missing = map(float, state.arrays["moments"])
        return cls(int(count), mean, squares, low, high, int(missing))


@dataclass
class Number(Column):
    """x becomes (x − mean) / deviation, of mean 0 and variance 1; true and false are 1 and 0. A
    missing value becomes the mean, 0. A constant column becomes 0."""

    form: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        self.seen = Moments()

    def learn(self, cells: Cells) -> None:
        self.seen.learn(cells)

    @property
    def number_count(self) -> int:
        return 1

    def numbers(self, cells: Cells) -> list[Array]:
        return [self.seen.scaled(cells)]

    def names(self) -> tuple[list[str], list[str], list[str]]:
        return [self.name], [], []

    def note(self) -> str:
        return self.seen.note()

    def state(self) -> State:
        return self.seen.state()

    @classmethod
    def restored(cls, name: str, kind: str, state: State) -> Number:
        column = cls(name, kind)
        column.seen = Moments.restored(state)
        return column
