"""From what a model sees of a value back to the units in which a person has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy.typing as npt

Own: TypeAlias = float | str | None  # None: there is nothing to tell beyond what the model sees
DIGITS = 12  # that are kept: what lies beyond them is the rounding of the way there and back


class Units(Protocol):
    """What knows the units of X's columns."""

    def own_value(self, feature: int, value: float) -> Own:
        """What ``value`` of this column of X stands for."""
        ...


@dataclass(frozen=True)
class Standardised:
    """Columns of X that were brought to mean 0 and variance 1."""

    mean: npt.NDArray[Any]
    deviation: npt.NDArray[Any]

    def own_value(self, feature: int, value: float) -> Own:
        return without_rounding(float(self.mean[feature] + value * self.deviation[feature]))


def without_rounding(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def shown(value: float | str) -> str:
    """For people: whole numbers as such, others with six digits."""
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:.6g}"
