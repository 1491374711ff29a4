"""X and y of tables.

All that is learned is learned from the training rows, labels aside; what becomes of a column is
written in ``uids/datasets/columns/``. The rows are read in batches and laid down on disk; memory
holds a batch, the values of the columns of text, the labels and the ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from uids.datasets.data import Parts
from uids.datasets.formats.kinds import STRING
from uids.datasets.formats.labels import Labels
from uids.datasets.formats.roles import PARTS, Roles, part_codes, same_columns
from uids.datasets.formats.table import Columns, Table
from uids.datasets.formats.table_encoder import TableEncoder, learned
from uids.datasets.parsed import stacked
from uids.errors import UidsError


@dataclass(frozen=True)
class EncodedTables:
    """``part_rows`` are the rows of each part where the training table holds several."""

    parts: Parts
    encoder: TableEncoder
    ids: pa.Table
    part_rows: dict[str, npt.NDArray[np.int64]]


@dataclass
class Beside:
    """What is read along with the features, batch by batch: labels, ids and parts."""

    roles: Roles
    labels: Labels
    ids: list[pa.Table] = field(default_factory=list)
    codes: list[npt.NDArray[np.int8]] = field(default_factory=list)

    def names(self, part: str) -> list[str]:
        roles = self.roles
        mine = [*roles.ids, *([roles.part] if roles.part else [])] if part == "train" else []
        return [roles.target, *mine]

    def add(self, part: str, columns: Columns, table: Table, row: int) -> None:
        roles = self.roles
        self.labels.add(part, columns[roles.target], roles.target, table, row)
        if part == "train":
            if roles.ids:
                self.ids.append(pa.table({name: plain(columns[name]) for name in roles.ids}))
            if roles.part:
                self.codes.append(part_codes(columns[roles.part], roles.part, table, row))


def encode(tables: Mapping[str, Table], roles: Roles, most_classes: int) -> EncodedTables:
    """(X, y) of each table, and what was learned on the way."""
    for table in tables.values():
        same_columns(tables["train"], table, roles)
    encoder = learned(tables["train"], roles)
    beside = Beside(roles, Labels(most_classes))

    def blocks(part: str) -> Iterator[Any]:
        table = tables[part]
        for row, columns in table.numbered([*roles.features, *beside.names(part)]):
            beside.add(part, columns, table, row)
            yield encoder.block(encoder.read(columns, table, row))

    matrices = {part: stacked(blocks(part)) for part in tables}
    for part, X in matrices.items():
        if X is None:
            raise UidsError(f"{tables[part].where} has no rows")
    beside.labels.refuse_ids(roles.target, tables["train"])
    y = beside.labels.typed()
    parts = {part: (X, y[part]) for part, X in matrices.items()}
    rows = part_rows(np.concatenate(beside.codes), roles, tables["train"]) if roles.part else {}
    return EncodedTables(parts, encoder, id_table(beside.ids, tables["train"]), rows)


def part_rows(
    codes: npt.NDArray[np.int8], roles: Roles, table: Table
) -> dict[str, npt.NDArray[np.int64]]:
    found = {name: np.flatnonzero(codes == code) for code, name in enumerate(PARTS)}
    if not len(found["train"]):
        raise UidsError(f"{table.where}: no row is for training (column {roles.part!r})")
    return {name: rows for name, rows in found.items() if len(rows) or name == "train"}


def plain(column: pa.Array) -> Any:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def id_table(batches: list[pa.Table], source: Table) -> pa.Table:
    """One below the other. Where all cells are text, those of a column that are whole numbers,
    written as one writes them, are numbers."""
    if not batches:
        return pa.table({})
    ids = pa.concat_tables(batches).combine_chunks()
    for i, name in enumerate([] if source.typed else ids.column_names):
        try:
            numbers = ids[name].cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        if numbers.cast(STRING).equals(ids[name]):
            ids = ids.set_column(i, name, numbers)
    return ids
