"""Which column of a table is what: labels, ids, part, left out, text, and those to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from uids.datasets.formats.kinds import TEXT, read_as, tidy
from uids.datasets.formats.table import Table
from uids.errors import UidsError, require, unknown

TARGETS = ("target", "label", "class", "y", "click")  # names by which a column of labels is known
PARTS = ("train", "validation", "test")
# What a column of parts may say, in any case.
PART_WORDS = {
    "train": ("train", "training", "tr", "learn"),
    "validation": ("validation", "valid", "val", "dev", "development", "va", "trusted"),
    "test": ("test", "testing", "te"),
}
CODES = {word: PARTS.index(part) for part, words in PART_WORDS.items() for word in words}


@dataclass(frozen=True)
class Roles:
    """Names of columns. ``features`` are the others, in the order of the training file."""

    target: str
    ids: tuple[str, ...] = ()
    part: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    features: tuple[str, ...] = ()

    @property
    def aside(self) -> set[str]:
        """What a new table may lack, or have: nothing is learned from it."""
        return {self.target, *self.ids, *self.drop, *([self.part] if self.part else [])}

    def state(self) -> dict[str, Any]:
        """In JSON's own types."""
        lists = {name: list(getattr(self, name)) for name in LISTS}
        return {"target": self.target, "part": self.part, **lists}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Roles:
        lists = {name: tuple(map(str, state[name])) for name in LISTS}
        part = None if state["part"] is None else str(state["part"])
        return cls(target=str(state["target"]), part=part, **lists)


LISTS = ("ids", "drop", "text", "features")


def names_of(value: object, option: str) -> tuple[str, ...]:
    """One name, several, or none; a ValueError where it is something else."""
    if value is None:
        return ()
    names = (value,) if isinstance(value, str) else value
    right = isinstance(names, Sequence) and all(isinstance(name, str) and name for name in names)
    require(right, option, "the name of a column or a list of names", value)
    return tuple(str(name) for name in names) if isinstance(names, Sequence) else ()


def roles_of(
    table: Table,
    target: str | None,
    ids: Sequence[str],
    part: str | None,
    drop: Sequence[str],
    text: Sequence[str],
) -> Roles:
    """Every name looked up in the training table, and none of them twice."""
    given = {"id": ids, "part": [part] if part else [], "drop": drop, "text": text}
    for option, names in given.items():
        for name in names:
            if name not in table.columns:
                raise UidsError(f"{table.option(option)}: {unknown('column', name, table.columns)}")
    given = {**given, "target": [target_of(table, target)]}
    owner: dict[str, str] = {}
    for option, names in given.items():
        for name in names:
            if owner.setdefault(name, option) != option:
                both = f"{table.option(owner[name])} and {table.option(option)}"
                raise UidsError(f"{both} are both {name!r}: one column")
    features = tuple(name for name in table.columns if owner.get(name, "text") == "text")
    if not features:
        raise UidsError(f"{table.where} has no column beside the labels")
    return Roles(given["target"][0], tuple(ids), part, tuple(drop), tuple(text), features)


def target_of(table: Table, given: str | None) -> str:
    if given is not None:
        if given not in table.columns:
            raise UidsError(f"{table.option('target')}: {unknown('column', given, table.columns)}")
        return given
    likely = [name for name in table.columns if name.lower() in TARGETS]
    if len(likely) != 1:
        hint = "" if len(table.columns) > 1 else " (only one: is the separator a comma?)"
        must = "dataset.target must name the column of labels"
        if table.in_python:
            must, hint = "which column holds the labels? uids.run(frame, target=…)", ""
        raise UidsError(f"{must}; the columns of {table.where} are {listed(table.columns)}{hint}")
    return likely[0]


def listed(names: Sequence[str], most: int = 30) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def same_columns(train: Table, other: Table, roles: Roles) -> None:
    """Labels and features are in all files; ids and what is left out need not be."""
    free = roles.aside - {roles.target}
    here, there = ({*table.columns} - free for table in (train, other))
    for more, less, names in ((train, other, here - there), (other, train, there - here)):
        if names:
            lacked = ", ".join(map(repr, sorted(names)))
            raise UidsError(f"{less.where} lacks the column {lacked}, which {more.where} has")


def part_codes(column: pa.Array, name: str, table: Table, row: int) -> npt.NDArray[np.int8]:
    """Of each row the place of its part in ``PARTS``. ``row`` is the number of the first."""
    text = pc.utf8_lower(tidy(read_as(column, TEXT)))
    coded = text.dictionary_encode(null_encoding="encode")
    words = coded.dictionary.to_pylist()
    places = np.array([CODES.get(word, -1) for word in words], dtype=np.int8)
    codes = places[coded.indices.to_numpy()]
    if (codes < 0).any():
        first = int((codes < 0).argmax())
        seen = column[first].as_py()
        said = "is missing" if words[coded.indices[first].as_py()] is None else f"is {seen!r}"
        raise UidsError(
            f"{table.where}: the part (column {name!r}) {said} in row {row + first}, counted from "
            "0: it must be train, validation (or valid, val, dev) or test"
        )
    return codes
