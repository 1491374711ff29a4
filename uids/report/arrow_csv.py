"""Arrow tables as CSV that no spreadsheet computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from uids.report.plain import plain_cell
from uids.system.files import replacing


def write_csv(path: Path, table: pa.Table) -> None:
    """Text by ``plain_cell``; what is missing is empty."""
    columns = [plain_column(table[name]) for name in table.column_names]
    names = [str(plain_cell(name)) for name in table.column_names]
    with replacing(path) as temporary:
        options = pa_csv.WriteOptions(quoting_style="needed")
        pa_csv.write_csv(pa.Table.from_arrays(columns, names=names), temporary, options)


def plain_column(column: pa.ChunkedArray) -> Any:
    type = column.type
    if not (pa.types.is_string(type) or pa.types.is_large_string(type)):
        return column
    coded = column.combine_chunks().dictionary_encode()
    texts = [plain_cell(text) for text in coded.dictionary.to_pylist()]
    return pa.array(texts, pa.large_string()).take(coded.indices)
