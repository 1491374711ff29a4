"""Columns of numbers, and of true and false."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from uids.datasets.columns.column import Array, Cells, Column, State
from uids.datasets.columns.serial import FirstValues
from uids.datasets.units import Own, without_rounding

if TYPE_CHECKING:
    from typing_extensions import Self

FLAG = "true/false"  # the kind of such columns
MISSING = "missing"


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
        mean = known.mean()
        squares = float(((known - mean) ** 2).sum())
        self.merge(Moments(len(known), mean, squares, known.min(), known.max()))

    def merge(self, other: Moments) -> None:
        self.missing += other.missing
        if not other.count:
            return
        shift, total = other.mean - self.mean, self.count + other.count
        self.squares += other.squares
        self.squares += float(shift**2 * self.count * other.count / total)
        self.mean += float(shift * other.count / total)
        self.count = total
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

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

    def unscaled(self, value: float) -> float | None:
        """The inverse; None where x was missing, of which alone exactly 0 is made (but for the
        one value that may be equal to the mean)."""
        if self.missing and value == 0:
            return None
        deviation = 0.0 if self.constant else float(np.sqrt(self.squares / self.count))
        return without_rounding(self.mean + value * deviation)

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
        self.first = FirstValues()
        self.id_hint = ""  # where it looks like an id
        self.is_id = False  # … and one can be sure

    def learn(self, cells: Cells) -> None:
        self.seen.learn(cells)
        self.first.learn(cells)

    def merge(self, other: Self) -> None:
        self.seen.merge(other.seen)
        for values in other.first.parts:
            self.first.learn(values)

    def finish(self) -> None:
        self.id_hint, self.is_id = self.first.told()
        self.first = FirstValues()

    @property
    def number_count(self) -> int:
        return 1

    def numbers(self, cells: Cells) -> list[Array]:
        return [self.seen.scaled(cells)]

    def own_value(self, value: float) -> Own:
        own = self.seen.unscaled(value)
        if own is None:
            return MISSING
        return ("true" if own > 0.5 else "false") if self.kind == FLAG else own

    def names(self) -> tuple[list[str], list[str], list[str]]:
        return [self.name], [], []

    def note(self) -> str:
        hint = f"{self.id_hint} dataset.id={self.name}" if self.id_hint else ""
        return "; ".join(words for words in (self.seen.note(), hint) if words)

    def state(self) -> State:
        return State({"id_hint": self.id_hint}, self.seen.state().arrays)

    @classmethod
    def restored(cls, name: str, kind: str, state: State) -> Number:
        column = cls(name, kind)
        column.seen = Moments.restored(state)
        column.id_hint = str(state.values.get("id_hint", ""))
        return column
