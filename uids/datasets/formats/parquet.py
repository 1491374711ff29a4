"""A person's own Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from uids.datasets.formats.arrow_reading import reading
from uids.datasets.formats.table import FLAG, NUMBER, TEXT, Columns, Table, Types
from uids.datasets.formats.tables import Tables
from uids.errors import UidsError
from uids.system.progress import Steps


@dataclass(frozen=True)
class Parquet(Tables):
    """A person's own Parquet. Columns of numbers and of true and false hold numbers, columns of
    text hold categories."""

    batch: ClassVar[int] = 2**17  # rows that are read at a time

    def open(self, path: Path, where: str) -> Table:
        with reading(where):
            schema = pq.read_schema(path)
        counts = Counter(schema.names)
        twice = [name for name in schema.names if counts[name] > 1]
        if twice:
            raise UidsError(f"{where} has two columns {twice[0]!r}: rename one of them")

        def batches(names: Sequence[str]) -> Iterator[Columns]:
            with reading(where), pq.ParquetFile(path) as file:
                steps, done = Steps(f"read {path.name}", file.metadata.num_rows), 0
                for batch in file.iter_batches(batch_size=self.batch, columns=list(names)):
                    yield {name: batch.column(name) for name in names}
                    done += len(batch)
                    steps.done(done)

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
