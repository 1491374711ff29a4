"""Tables whose columns have types: Parquet, and frames in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pyarrow as pa

from uids.datasets.formats.kinds import (
    MOMENTS,
    TEXT,
    is_text,
    kind_of,
    possible_kinds,
    read_as,
    settled,
    tidy,
)
from uids.datasets.formats.table import Columns, Kinds, Table
from uids.errors import UidsError

BATCH = 2**17  # rows that are encoded at a time


def refuse_twice(names: Sequence[str], where: str) -> None:
    counts = Counter(names)
    twice = [name for name in names if counts[name] > 1]
    if twice:
        raise UidsError(f"{where} has two columns {twice[0]!r}: rename one of them")


def kinds_of(schema: pa.Schema, names: Sequence[str], table: Table) -> Kinds:
    """By their types, and for text by its cells: dates that are written as text are dates, as they
    are in a CSV, unless the column is of categories by its type. An error names a column whose type
    is none that can be encoded."""
    kinds = {}
    for name in names:
        kind, type = kind_of(schema.field(name).type), schema.field(name).type
        if kind is None:
            raise UidsError(
                f"{table.where}: column {name!r} is of type {type}; make numbers or text of it, or "
                f"drop it: {table.setting('drop', name, many=True)}"
            )
        kinds[name] = kind
    texts = [name for name in names if is_text(schema.field(name).type)]
    return {**kinds, **kinds_of_text(texts, table)} if texts else kinds


def kinds_of_text(names: Sequence[str], table: Table) -> Kinds:
    """Text that reads as numbers stays text: whoever kept the type has said so. A column without a
    value reads as anything, and is what it is in a CSV."""
    tidied = (
        {name: tidy(read_as(column, TEXT)) for name, column in columns.items()}
        for columns in table.batches(names)
    )
    possible = possible_kinds(tidied, names)
    return {
        name: settled(kinds) if {*kinds} & {*MOMENTS} else TEXT for name, kinds in possible.items()
    }


def columns_of(schema: pa.Schema) -> list[str]:
    """Without the index that pandas writes."""
    return [name for name in schema.names if not name.startswith("__index_level_")]


def frame_table(frame: pa.Table, where: str = "the frame") -> Table:
    """A frame in memory."""
    refuse_twice(frame.column_names, where)

    def batches(names: Sequence[str]) -> Iterator[Columns]:
        for batch in frame.select(list(names)).to_batches(max_chunksize=BATCH):
            yield {name: batch.column(name) for name in names}

    def kinds(names: Sequence[str]) -> Kinds:
        return kinds_of(frame.schema, names, table)

    table = Table(where, columns_of(frame.schema), kinds, batches, in_python=True)
    return table
