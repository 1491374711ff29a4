"""A person's own CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow.csv as pa_csv

from uids.datasets.formats.arrow_reading import BLOCK, reading_text, text_batches
from uids.datasets.formats.arrow_table import refuse_twice
from uids.datasets.formats.kinds import STRING, possible_kinds, settled, tidy
from uids.datasets.formats.table import Columns, Kinds, Table
from uids.datasets.formats.tables import Tables


@dataclass(frozen=True)
class Csv(Tables):
    """A person's own CSV with a header; .tsv has tabs; .gz, .bz2 and .zst are unpacked.

    A column holds numbers if all its values in the training file read as numbers, or as true and
    false; dates if all read as dates, written in one way; else it holds categories. Empty, NA, NaN,
    null and the like are missing values.
    """

    block: ClassVar[int] = BLOCK
    file_format: ClassVar[str] = "csv"

    def open(self, path: Path, where: str) -> Table:
        layout = pa_csv.ParseOptions(
            delimiter="\t" if ".tsv" in path.suffixes else ",", newlines_in_values=True
        )
        start = pa_csv.ReadOptions(block_size=self.block)
        with (
            reading_text(path, where, start, layout),
            pa_csv.open_csv(path, start, layout) as file,
        ):
            header = list(file.schema.names)
        written = {name.strip(): name for name in header}  # "a, b" is the column b
        refuse_twice([name.strip() for name in header], where)

        def batches(names: Sequence[str]) -> Iterator[Columns]:
            originals = [written[name] for name in names]
            # As text, since arrow would guess a column's type by the first rows alone.
            convert = pa_csv.ConvertOptions(
                include_columns=originals, column_types=dict.fromkeys(originals, STRING)
            )
            for batch in text_batches(path, where, self.block, layout, convert):
                yield dict(zip(names, map(tidy, batch.columns), strict=True))

        def kinds(names: Sequence[str]) -> Kinds:
            possible = possible_kinds(batches(names), names)
            return {name: settled(kinds) for name, kinds in possible.items()}

        return Table(where, [name for name in written if name], kinds, batches, typed=False)
