"""Columns of dates and times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from uids.datasets.columns.column import Array, Cells, Column, State
from uids.datasets.columns.number import MISSING, Moments
from uids.datasets.units import Own

if TYPE_CHECKING:
    from typing_extensions import Self

SECONDS = 24 * 3600  # of a day
DAY = SECONDS * 10**6  # microseconds
ROWS_EACH = 30  # rows for each month, day of the week or hour, below which it tells too little
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass
class Moment(Column):
    """The days since 1970, as a number; and the month, the day of the week and the hour, each as
    one column of 0/1 for each of its values, where the training file has more than one, and rows
    enough to learn from. A missing moment is the mean of the days, and of no month, day or hour."""

    form: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        self.days = Moments()
        self.parts: dict[str, Array] = {name: np.zeros(0, np.int64) for name in PARTS}

    def learn(self, cells: Cells) -> None:
        self.days.learn(days_of(cells))
        for name, part in PARTS.items():
            new = pc.unique(part(cells)).drop_null().to_numpy()
            self.parts[name] = np.union1d(self.parts[name], new).astype(np.int64)

    def merge(self, other: Self) -> None:
        self.days.merge(other.days)
        for name, values in other.parts.items():
            self.parts[name] = np.union1d(self.parts[name], values).astype(np.int64)

    def finish(self) -> None:
        most = max(1, self.days.count // ROWS_EACH)
        self.parts = {name: v for name, v in self.parts.items() if 1 < len(v) <= most}

    @property
    def number_count(self) -> int:
        return 1

    @property
    def code_widths(self) -> list[int]:
        return [len(values) for values in self.parts.values()]

    def numbers(self, cells: Cells) -> list[Array]:
        return [self.days.scaled(days_of(cells))]

    def own_value(self, value: float) -> Own:
        days = self.days.unscaled(value)
        if days is None:
            return MISSING
        moment = np.datetime64(round(days * SECONDS), "s")
        day = moment.astype("datetime64[D]")
        return str(day if moment == day else moment.astype("datetime64[m]")).replace("T", " ")

    def codes(self, cells: Cells) -> list[Array]:
        found = []
        for name, values in self.parts.items():
            numbers = pc.index_in(PARTS[name](cells), value_set=pa.array(values))
            codes = pc.if_else(pc.is_valid(cells), numbers, pa.scalar(None, pa.int32()))
            found.append(codes.fill_null(-1).to_numpy(zero_copy_only=False))
        return found

    def names(self) -> tuple[list[str], list[str], list[str]]:
        codes = [
            f"{self.name}.{part}={WEEKDAYS[value] if part == 'weekday' else value}"
            for part, values in self.parts.items()
            for value in values.tolist()
        ]
        return [f"{self.name} (days)"], codes, []

    def note(self) -> str:
        parts = ", ".join(["days", *self.parts])
        more = self.days.note()
        return f"{parts}; {more}" if more else parts

    def state(self) -> State:
        days = self.days.state()
        arrays = {f"part {name}": values for name, values in self.parts.items()}
        return State({"parts": list(self.parts)}, {**days.arrays, **arrays})

    @classmethod
    def restored(cls, name: str, kind: str, state: State) -> Moment:
        column = cls(name, kind)
        column.days = Moments.restored(state)
        parts = [part for part in PARTS if part in state.values["parts"]]
        column.parts = {part: state.arrays[f"part {part}"].astype(np.int64) for part in parts}
        return column


def days_of(cells: Cells) -> Array:
    """NaN where the moment is missing."""
    stamps = pc.cast(cells, pa.int64())
    values = pc.cast(stamps, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(values / DAY)


def _weekday(cells: Cells) -> Any:
    return pc.day_of_week(cells)


def _month(cells: Cells) -> Any:
    return pc.month(cells)


def _hour(cells: Cells) -> Any:
    return pc.hour(cells)


PARTS = {"month": _month, "weekday": _weekday, "hour": _hour}
