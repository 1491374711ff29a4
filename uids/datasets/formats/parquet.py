"""A person's own Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow.parquet as pq

from uids.datasets.formats.arrow_reading import reading
from uids.datasets.formats.arrow_table import BATCH, columns_of, kinds_of, refuse_twice
from uids.datasets.formats.table import Columns, Kinds, Table
from uids.datasets.formats.tables import Tables
from uids.system.progress import Steps


@dataclass(frozen=True)
class Parquet(Tables):
    """A person's own Parquet. Columns of numbers and of true and false hold numbers, columns of
    text hold categories, those of dates and times hold moments."""

    batch: ClassVar[int] = BATCH  # rows that are read at a time
    file_format: ClassVar[str] = "parquet"

    def open(self, path: Path, where: str) -> Table:
        with reading(where):
            schema = pq.read_schema(path)
        refuse_twice(schema.names, where)

        def batches(names: Sequence[str]) -> Iterator[Columns]:
            with reading(where), pq.ParquetFile(path) as file:
                steps, done = Steps(f"read {path.name}", file.metadata.num_rows), 0
                for batch in file.iter_batches(batch_size=self.batch, columns=list(names)):
                    yield {name: batch.column(name) for name in names}
                    done += len(batch)
                    steps.done(done)

        def kinds(names: Sequence[str]) -> Kinds:
            return kinds_of(schema, names, table)

        table = Table(where, columns_of(schema), kinds, batches)
        return table
