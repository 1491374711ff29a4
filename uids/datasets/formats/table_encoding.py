"""X and y of tables.

All that is learned is learned from the training file, labels aside:

- A column of numbers, x, becomes (x − mean) / deviation, of mean 0 and variance 1; true and false
  are 1 and 0. A missing value becomes the mean, 0. A constant column becomes 0.
- A column of text becomes one column of 0/1 for each of its values, in their order; a missing value
  is a value of its own, the last. A value that the training file does not have gets no column.
  Exact, and no wider than the data: hashing would give every small table thousands of empty columns
  and let values collide.

The columns of numbers come first. X is CSR when there is any column of text, dense otherwise. The
rows are read in batches and laid down on disk; memory holds a batch, the values of the columns of
text, and the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from uids.datasets.data import Parts
from uids.datasets.formats.table import FLAG, NUMBER, TEXT, Columns, Table, Types, reads_as, tidy
from uids.datasets.parsed import stacked
from uids.errors import UidsError, one_line

Array = npt.NDArray[Any]


@dataclass
class Number:
    """Mean and variance of a column, batch by batch (Chan, Golub and LeVeque 1979)."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0  # Σ (x − mean)²
    low: float = np.inf
    high: float = -np.inf

    def learn(self, values: Array) -> None:
        values = values[~np.isnan(values)]
        if not len(values):
            return
        count, shift = len(values), values.mean() - self.mean
        total = self.count + count
        self.squares += ((values - values.mean()) ** 2).sum()
        self.squares += shift**2 * self.count * count / total
        self.mean += shift * count / total
        self.count = total
        self.low, self.high = min(self.low, values.min()), max(self.high, values.max())

    def encoded(self, values: Array) -> Array:
        # Rounding could give a constant column some variance; squares below 1e-323 vanish.
        if not (self.low < self.high and self.squares > 0):
            return np.zeros(len(values))
        scaled = (values - self.mean) / np.sqrt(self.squares / self.count)
        return np.where(np.isnan(scaled), 0.0, scaled)


@dataclass
class Category:
    """The values of a column, in order."""

    values: Any = field(default_factory=lambda: pa.array([], TEXT))

    def learn(self, column: Any) -> None:
        both = pa.chunked_array([self.values, pc.unique(column)])
        self.values = pc.unique(both)

    def finish(self) -> None:
        self.values = self.values.take(pc.array_sort_indices(self.values))

    def encoded(self, column: Any) -> Array:
        """The number of each value; −1 for one that was not learned."""
        numbers = pc.index_in(column, value_set=self.values)
        return numbers.fill_null(-1).to_numpy(zero_copy_only=False)


Encoder = dict[str, Number | Category]


@dataclass
class Labels:
    """The labels of all parts as numbers of their texts, until all texts are known; no more than
    ``most`` different ones."""

    most: int
    known: dict[str, int] = field(default_factory=dict)
    codes: dict[str, list[Array]] = field(default_factory=dict)

    def add(self, part: str, column: Any, target: str, where: str) -> None:
        codes = self.codes.setdefault(part, [])
        text = pc.cast(pc.cast(column, pa.int8()) if column.type == FLAG else column, TEXT)
        text = tidy(text)
        if text.null_count:
            row = sum(map(len, codes)) + pc.index(pc.is_null(text), True).as_py()
            raise UidsError(
                f"{where}: the label (column {target!r}) is missing in row {row}, counted from 0"
            )
        coded = text.dictionary_encode()
        numbers = [self.known.setdefault(t, len(self.known)) for t in coded.dictionary.to_pylist()]
        if len(self.known) > self.most:
            raise UidsError(
                f"{where}: column {target!r} has more than {self.most:,} different values, too "
                "many to be classes: name the column of labels by dataset.target"
            )
        codes.append(np.array(numbers, dtype=np.int32)[coded.indices.to_numpy()])

    def typed(self) -> dict[str, Array]:
        """y of each part: whole numbers if all labels are, else numbers if all are, else text."""
        texts = pa.array(list(self.known), TEXT)
        if reads_as(texts, pa.int64()):
            values = pc.cast(texts, pa.int64()).to_numpy()
        elif reads_as(texts, NUMBER):
            values = pc.cast(texts, NUMBER).to_numpy()
            if (values == np.rint(values)).all() and (abs(values) < 2**53).all():
                values = values.astype(np.int64)  # "+1", "1.0"
        else:
            values = np.array(list(self.known))
        return {part: values[np.concatenate(codes)] for part, codes in self.codes.items()}


def encode(
    tables: Mapping[str, Table], target: str, left_out: str | None, most_classes: int
) -> Parts:
    """(X, y) of each table; ``target`` is the column of labels, ``left_out`` one to ignore."""
    train = tables["train"]
    for table in tables.values():
        same_columns(train, table, left_out)
    names = [name for name in train.columns if name not in (target, left_out)]
    if not names:
        raise UidsError(f"{train.where} has no column beside the labels")
    types = train.types(names)
    encoder = learned(train, types)
    labels = Labels(most_classes)

    def blocks(part: str) -> Iterator[Any]:
        table = tables[part]
        for row, columns in numbered(table, [*names, target]):
            labels.add(part, columns[target], target, table.where)
            yield block(cast(columns, types, table.where, row), encoder)

    matrices = {part: stacked(blocks(part)) for part in tables}
    for part, X in matrices.items():
        if X is None:
            raise UidsError(f"{tables[part].where} has no rows")
    y = labels.typed()
    return {part: (X, y[part]) for part, X in matrices.items()}


def same_columns(train: Table, other: Table, left_out: str | None) -> None:
    here, there = ({*table.columns} - {left_out} for table in (train, other))
    for more, less, names in ((train, other, here - there), (other, train, there - here)):
        if names:
            listed = ", ".join(map(repr, sorted(names)))
            raise UidsError(f"{less.where} lacks the column {listed}, which {more.where} has")


def numbered(table: Table, names: Sequence[str]) -> Iterator[tuple[int, Columns]]:
    """Batches of at least one row, each with the number of its first row."""
    row = 0
    for columns in table.batches(names):
        count = len(columns[names[0]])
        if count:
            yield row, columns
        row += count


def learned(train: Table, types: Types) -> Encoder:
    encoder: Encoder = {
        name: Category() if kind == TEXT else Number() for name, kind in types.items()
    }
    for row, columns in numbered(train, list(types)):
        for name, column in cast(columns, types, train.where, row).items():
            with np.errstate(over="ignore", invalid="ignore"):  # looked at below
                encoder[name].learn(column)
    for name, part in encoder.items():
        if isinstance(part, Category):
            part.finish()
        elif not np.isfinite(part.squares):
            raise UidsError(f"{train.where}: the numbers of column {name!r} are too large")
    return encoder


def cast(columns: Columns, types: Types, where: str, row: int) -> Columns:
    """Columns of numbers as float64 with NaN where a value is missing, the others as text."""
    typed: Columns = {}
    for name, kind in types.items():
        try:
            typed[name] = pc.cast(columns[name], kind, safe=False)
        except pa.ArrowException as error:
            raise UidsError(
                f"{where}: column {name!r} does not hold what it holds in the training file: "
                f"{one_line(error)}"
            ) from error
        if kind != TEXT:
            values = pc.cast(typed[name], NUMBER).to_numpy(zero_copy_only=False)
            infinite = np.isinf(values)
            if infinite.any():
                raise UidsError(
                    f"{where}: column {name!r} is infinite in row {row + int(infinite.argmax())}, "
                    "counted from 0"
                )
            typed[name] = values
    return typed


def block(columns: Columns, encoder: Encoder) -> Any:
    """These rows of X: dense without categories, else CSR with its columns in order."""
    numbers = {name: part for name, part in encoder.items() if isinstance(part, Number)}
    categories = {name: part for name, part in encoder.items() if isinstance(part, Category)}
    shape = len(next(iter(columns.values()))), len(encoder)
    data, places = np.empty(shape), np.empty(shape, dtype=np.int32)
    for j, (name, number) in enumerate(numbers.items()):
        data[:, j], places[:, j] = number.encoded(columns[name]), j
    if not categories:
        return data
    width = len(numbers)
    for j, (name, category) in enumerate(categories.items(), start=len(numbers)):
        codes = category.encoded(columns[name])
        data[:, j], places[:, j] = codes >= 0, width + np.maximum(codes, 0)
        width += len(category.values)
    starts = np.arange(0, data.size + 1, len(encoder))
    X = sp.csr_matrix((data.ravel(), places.ravel(), starts), shape=(len(data), width))
    X.eliminate_zeros()
    return X
