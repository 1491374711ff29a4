"""Columns of text whose values are categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from uids.datasets.columns.column import STRING, Array, Cells, Column, State, text_of, text_state

if TYPE_CHECKING:
    from typing_extensions import Self

MOST_VALUES = 2**20  # beyond which a column is hashed, to as many columns of X
LEAST_IDS = 100  # values from which a column of nearly as many values as rows is an id
ID_SHARE = 0.9  # of the rows that have a value of their own, from which it is one
MOST_PLAIN = 100  # values up to which text of several words is taken for categories
SEVERAL_WORDS = r"\S\s+\S+\s+\S"  # three, since many a name has two
SHOWN = 3  # values in a note


@dataclass
class Category(Column):
    """One column of 0/1 for each value, in their order; a missing value is a value of its own, the
    last. A value that the training file does not have gets no column.

    Exact, and no wider than the data: hashing would give every small table thousands of empty
    columns and let values collide. Only beyond ``most`` values they are hashed, to that many.
    """

    form: ClassVar[str] = "category"
    most: ClassVar[int] = MOST_VALUES

    def __post_init__(self) -> None:
        self.values = pa.array([], STRING)
        self.rows = 0  # those with a value, until it was hashed
        self.hashed = 0  # into so many columns; 0: not at all

    def learn(self, cells: Cells) -> None:
        if self.hashed:
            return
        self._add(pc.unique(cells), len(cells) - cells.null_count)

    def merge(self, other: Self) -> None:
        if self.hashed or other.hashed:
            self.hashed, self.values = self.most, pa.array([], STRING)
        else:
            self._add(other.values, other.rows)

    def _add(self, values: Cells, rows: int) -> None:
        self.values = pc.unique(pa.chunked_array([self.values, values]))
        self.rows += rows
        if self.is_large and not self.is_id:
            self.hashed, self.values = self.most, pa.array([], STRING)

    def finish(self) -> None:
        self.values = self.values.take(pc.array_sort_indices(self.values))

    @property
    def distinct(self) -> int:
        return len(self.values) - self.values.null_count

    @property
    def is_large(self) -> bool:
        return len(self.values) > self.most

    @property
    def is_id(self) -> bool:
        """Nearly every row has a value of its own, from which nothing can be learned."""
        return self.distinct >= LEAST_IDS and self.distinct > ID_SHARE * self.rows

    @property
    def is_prose(self) -> bool:
        """Many values, most of them of several words: rather text to be read word by word."""
        if self.distinct <= MOST_PLAIN:
            return False
        several = pc.sum(pc.match_substring_regex(self.values, SEVERAL_WORDS)).as_py()
        return bool(several > self.distinct / 2)

    @property
    def code_widths(self) -> list[int]:
        return [self.hashed or len(self.values)]

    def codes(self, cells: Cells) -> list[Array]:
        if self.hashed:
            return [self._buckets(cells)]
        numbers = pc.index_in(cells, value_set=self.values)
        return [numbers.fill_null(-1).to_numpy(zero_copy_only=False)]

    def unseen(self, cells: Cells) -> Cells:
        """Those that were not learned, and so get no column."""
        if self.hashed:
            return cells[:0]
        return pc.filter(cells, pc.is_null(pc.index_in(cells, value_set=self.values)))

    def _buckets(self, cells: Cells) -> Array:
        from sklearn.utils import murmurhash3_32

        coded = cells.dictionary_encode(null_encoding="encode")
        texts = coded.dictionary.to_pylist()
        places = [murmurhash3_32(text or "", positive=True) % self.hashed for text in texts]
        return np.array(places, dtype=np.int64)[coded.indices.to_numpy()]

    def names(self) -> tuple[list[str], list[str], list[str]] | None:
        if self.hashed:
            return None
        shown = ("(missing)" if v is None else v for v in self.values.to_pylist())
        return [], [f"{self.name}={value}" for value in shown], []

    def note(self) -> str:
        if self.hashed:
            return f"more than {self.most:,} values, hashed"
        first = [str(v) for v in self.values[: SHOWN + 1].to_pylist() if v is not None]
        more = ", …" if self.distinct > SHOWN else ""
        missing = "; missing is a value too" if self.values.null_count else ""
        words = f"; words? dataset.text=[{self.name}]" if self.is_prose else ""
        return ", ".join(first[:SHOWN]) + more + missing + words

    def state(self) -> State:
        return State({"hashed": self.hashed}, text_state(self.values))

    @classmethod
    def restored(cls, name: str, kind: str, state: State) -> Category:
        column = cls(name, kind)
        column.hashed, column.values = int(state.values["hashed"]), text_of(state.arrays)
        return column
