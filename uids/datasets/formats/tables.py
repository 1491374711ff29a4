"""A person's own tables, CSV and Parquet: how they are read. ``table_encoding`` makes X of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from uids.datasets import Data
from uids.datasets.files import OwnFiles, parsed
from uids.datasets.formats.libsvm import as_data
from uids.errors import UidsError, unknown

NUMBER, FLAG, TEXT = pa.float64(), pa.bool_(), pa.large_string()  # what a column can hold
MISSING = pa.array(pa_csv.ConvertOptions().null_values, TEXT)  # "", "NA", "NaN", "null", …
BLOCK, ROWS = 2**25, 2**17  # bytes of text, rows of Parquet that are read at a time
TARGETS = ("target", "label", "class", "y", "click")

Columns = dict[str, Any]  # name ↦ arrow array: some rows of a table
Types = dict[str, Any]  # name ↦ NUMBER, FLAG or TEXT


@dataclass(frozen=True)
class Table:
    """A file with named columns that is read some rows at a time. ``where`` is for errors.

    ``types(names)`` is what these columns hold; ``batches(names)`` are their rows in order.
    """

    where: str
    columns: list[str]
    types: Callable[[Sequence[str]], Types]
    batches: Callable[[Sequence[str]], Iterator[Columns]]


@dataclass(frozen=True)
class Tables(OwnFiles):
    """What both formats share. ``target`` is the column of labels, by default the one that is
    called target, label, class, y or click. ``id`` is a column to leave out. So are columns without
    a name and ``__index_level_N__``: they are the index that pandas writes.

    For what becomes of the columns see ``uids/datasets/formats/table_encoding.py``.
    """

    target: str | None = None
    id: str | None = None

    def open(self, path: Path, where: str) -> Table:
        raise NotImplementedError

    def load(self) -> Data:
        from uids.datasets.formats.table_encoding import encode

        paths = self.paths()
        options = [type(self).__name__, self.target, self.id, list(paths)]

        def parse() -> Any:
            tables = {
                part: self.open(path, f"dataset.{part}={path}") for part, path in paths.items()
            }
            train = tables["train"]
            if self.id is not None and self.id not in train.columns:
                raise UidsError(f"dataset.id: {unknown('column', self.id, train.columns)}")
            target = target_of(train, self.target)
            if target == self.id:
                raise UidsError(f"dataset.id and dataset.target are both {target!r}: one column")
            return encode(tables, target, self.id)

        return as_data(parsed(list(paths.values()), options, parse))


def target_of(table: Table, given: str | None) -> str:
    if given is not None:
        if given not in table.columns:
            raise UidsError(f"dataset.target: {unknown('column', given, table.columns)}")
        return given
    likely = [name for name in table.columns if name.lower() in TARGETS]
    if len(likely) != 1:
        hint = "" if len(table.columns) > 1 else " (only one: is the separator a comma?)"
        raise UidsError(
            f"dataset.target must name the column of labels; the columns of {table.where} "
            f"are {', '.join(table.columns)}{hint}"
        )
    return likely[0]


@contextmanager
def reading(where: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise UidsError(f"cannot read {where}: {' '.join(str(error).split())[:300]}") from error


@dataclass(frozen=True)
class Csv(Tables):
    """A person's own CSV with a header; .tsv has tabs; .gz, .bz2 and .zst are unpacked.

    A column holds numbers if all its values in the training file read as numbers, or as true and
    false; else it holds categories. Empty, NA, NaN, null and the like are missing values.
    """

    def open(self, path: Path, where: str) -> Table:
        layout = pa_csv.ParseOptions(
            delimiter="\t" if ".tsv" in path.suffixes else ",", newlines_in_values=True
        )
        pieces = pa_csv.ReadOptions(block_size=BLOCK)
        with reading(where), pa_csv.open_csv(path, pieces, layout) as file:
            header = list(file.schema.names)
        written = {name.strip(): name for name in header}  # "a, b" is the column b
        if len(written) < len(header):
            names = [name.strip() for name in header]
            twice = next(name for name in names if names.count(name) > 1)
            raise UidsError(f"{where} has two columns {twice!r}: rename one of them")

        def batches(names: Sequence[str]) -> Iterator[Columns]:
            originals = [written[name] for name in names]
            # As text, since arrow would guess a column's type by the first rows alone.
            convert = pa_csv.ConvertOptions(
                include_columns=originals, column_types=dict.fromkeys(originals, TEXT)
            )
            with reading(where), pa_csv.open_csv(path, pieces, layout, convert) as file:
                for batch in file:
                    yield dict(zip(names, map(tidy, batch.columns), strict=True))

        def types(names: Sequence[str]) -> Types:
            possible = {name: [NUMBER, FLAG] for name in names}
            for columns in batches(names):
                for name, column in columns.items():
                    possible[name] = [kind for kind in possible[name] if reads_as(column, kind)]
            return {name: [*kinds, TEXT][0] for name, kinds in possible.items()}

        return Table(where, [name for name in written if name], types, batches)


def tidy(text: Any) -> Any:
    """Text without space around it, and null where it says that a value is missing."""
    text = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.is_in(text, value_set=MISSING), pa.scalar(None, TEXT), text)


def reads_as(text: Any, kind: Any) -> bool:
    try:
        pc.cast(text, kind)
    except pa.ArrowInvalid:
        return False
    return True


@dataclass(frozen=True)
class Parquet(Tables):
    """A person's own Parquet. Columns of numbers and of true and false hold numbers, columns of
    text hold categories."""

    def open(self, path: Path, where: str) -> Table:
        with reading(where):
            schema = pq.read_schema(path)

        def batches(names: Sequence[str]) -> Iterator[Columns]:
            with reading(where), pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=ROWS, columns=list(names)):
                    yield {name: batch.column(name) for name in names}

        def types(names: Sequence[str]) -> Types:
            return {name: held_by(schema.field(name), where) for name in names}

        columns = [name for name in schema.names if not name.startswith("__index_level_")]
        return Table(where, columns, types, batches)


def held_by(field: Any, where: str) -> Any:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    is_a = pa.types
    if is_a.is_integer(kind) or is_a.is_floating(kind) or is_a.is_decimal(kind):
        return NUMBER
    if is_a.is_null(kind):
        return NUMBER
    if is_a.is_boolean(kind):
        return FLAG
    if is_a.is_string(kind) or is_a.is_large_string(kind):
        return TEXT
    raise UidsError(
        f"{where}: column {field.name!r} is of type {field.type}; make numbers or text of it, "
        "or drop it (dataset.id leaves out one column)"
    )
