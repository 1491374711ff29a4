"""The labels of tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from uids.datasets.formats.kinds import NUMBER, STRING, TEXT, read_as, reads_as, tidy
from uids.datasets.formats.table import Table
from uids.errors import UidsError

Array = npt.NDArray[Any]

LEAST_IDS = 30  # different labels from which they may be ids
ROWS_EACH = 2  # rows for each, up to which they are


@dataclass
class Labels:
    """The labels of all parts as numbers of their texts, until all texts are known; no more than
    ``most`` different ones. Where these are numbers, they are no classes, but may be what is to be
    predicted: then ``codes`` are the numbers themselves."""

    most: int
    known: dict[str, int] = field(default_factory=dict)
    codes: dict[str, list[Array]] = field(default_factory=dict)
    numbers: bool = False

    def add(self, part: str, column: pa.Array, target: str, table: Table, row: int) -> None:
        """``row`` is the number of the first in ``table``."""
        codes, where = self.codes.setdefault(part, []), table.where
        is_flag = pa.types.is_boolean(column.type)
        text = tidy(read_as(pc.cast(column, pa.int8()) if is_flag else column, TEXT))
        if text.null_count:
            first = row + pc.index(pc.is_null(text), True).as_py()
            raise UidsError(
                f"{where}: the label (column {target!r}) is missing in row {first}, counted from 0"
            )
        if self.numbers:
            codes.append(self.read(text, target, table))
            return
        coded = text.dictionary_encode()
        numbers = [self.known.setdefault(t, len(self.known)) for t in coded.dictionary.to_pylist()]
        codes.append(np.array(numbers, dtype=np.int32)[coded.indices.to_numpy()])
        if len(self.known) > self.most:
            values = self.read(pa.array(list(self.known), STRING), target, table)
            self.codes = {name: [values[c] for c in each] for name, each in self.codes.items()}
            self.numbers, self.known = True, {}

    def read(self, text: pa.Array, target: str, table: Table) -> Array:
        """Of more different labels than classes can be."""
        if not reads_as(text, NUMBER):
            raise UidsError(
                f"{table.where}: column {target!r} has more than {self.most:,} different values, "
                f"too many to be classes: name the column of labels by {table.option('target')}"
            )
        return np.asarray(read_as(text, NUMBER).to_numpy(zero_copy_only=False))

    def refuse_ids(self, target: str, table: Table) -> None:
        """Text of which each value is in a row or two; of numbers see ``split``."""
        count = sum(len(each) for codes in self.codes.values() for each in codes)
        different = len(self.known)
        if self.numbers:
            return
        few = different < LEAST_IDS or count > ROWS_EACH * different
        if few or reads_as(pa.array(list(self.known), STRING), NUMBER):
            return
        raise UidsError(
            f"{table.where}: column {target!r} has {different:,} different labels in {count:,} "
            f"rows: an id? name the column of labels by {table.option('target')}"
        )

    def typed(self) -> dict[str, Array]:
        """y of each part: whole numbers if all labels are, else numbers if all are, else text."""
        if self.numbers:
            return {part: np.concatenate(codes) for part, codes in self.codes.items()}
        texts = pa.array(list(self.known), STRING)
        if whole_numbers(texts):
            values = pc.cast(texts, pa.int64()).to_numpy()
        elif reads_as(texts, NUMBER):
            values = read_as(texts, NUMBER).to_numpy()
            if (values == np.rint(values)).all() and (abs(values) < 2**53).all():
                values = values.astype(np.int64)  # "+1", "1.0"
        else:
            values = np.array(list(self.known))
        return {part: values[np.concatenate(codes)] for part, codes in self.codes.items()}


def whole_numbers(texts: pa.Array) -> bool:
    try:
        pc.cast(texts, pa.int64())
    except pa.ArrowInvalid:
        return False
    return True
