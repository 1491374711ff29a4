"""A transformer of scikit-learn's that somebody hands in, in place of the encoders of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from uids.datasets.columns.column import State
from uids.datasets.data import Data, Pair, as_data
from uids.datasets.encoding import ColumnNote, Encoding
from uids.datasets.formats.adopted import (
    Transformer,
    as_transformer,
    clone_of,
    feature_names,
    from_skops,
    skops_bytes,
)
from uids.datasets.formats.kinds import MOMENTS, TEXT, kind_of, read_as
from uids.datasets.formats.labels import Labels
from uids.datasets.formats.roles import Roles, same_columns
from uids.datasets.formats.table import Table
from uids.datasets.formats.table_encoding import Beside, id_table, part_rows
from uids.datasets.units import Own
from uids.errors import Blame, UidsError

Indices = npt.NDArray[np.int64]


@dataclass
class Handed:
    """Fitted to the training rows as a pandas frame, with their labels, as scikit-learn fits."""

    transformer: Transformer
    roles: Roles
    width: int = 0
    named: list[str] | None = field(default=None, repr=False)

    @property
    def blame(self) -> Blame:
        return Blame(f"the encoder {type(self.transformer).__name__}")

    def fit(self, table: Table, rows: Indices, y: npt.NDArray[Any]) -> Handed:
        frame = pandas_of(table, self.roles)
        with self.blame:
            fitted = clone_of(self.transformer)
            X = fitted.fit(frame.iloc[rows], y[rows]).transform(frame.iloc[rows[:1]])
        names = feature_names(fitted)
        width = X.shape[1]
        return replace(self, transformer=fitted, width=width, named=names)

    def matrix(self, table: Table) -> Any:
        lacks = [name for name in self.roles.features if name not in table.columns]
        if lacks:
            raise UidsError(
                f"{table.where} lacks the column {', '.join(map(repr, lacks))}, which the training "
                "rows have"
            )
        with self.blame:
            return self.transformer.transform(pandas_of(table, self.roles))

    def features(self) -> list[str] | None:
        return self.named

    def own_value(self, feature: int, value: float) -> Own:
        return None

    def state(self) -> State:
        about = {"roles": self.roles.state(), "width": self.width, "named": self.named}
        return State(about, {"skops": np.frombuffer(skops_bytes(self.transformer), np.uint8)})

    @classmethod
    def restored(cls, state: State, trusted: Sequence[str]) -> Handed:
        about, content = state.values, state.arrays["skops"].tobytes()
        roles, names = Roles.restored(about["roles"]), about["named"]
        named = None if names is None else [str(name) for name in names]
        return cls(as_transformer(from_skops(content, trusted)), roles, int(about["width"]), named)

    def notes(self) -> list[ColumnNote]:
        roles = self.roles
        kinds = {roles.target: "target", **dict.fromkeys(roles.ids, "id")}
        kinds |= {roles.part: "part"} if roles.part else {}
        kinds |= dict.fromkeys(roles.drop, "dropped")
        name = type(self.transformer).__name__
        told = [ColumnNote(each, "encoder", 0, name) for each in roles.features]
        return told + [ColumnNote(each, kind, 0, "") for each, kind in kinds.items()]


def pandas_of(table: Table, roles: Roles) -> Any:
    """The columns to learn from, typed: dates as timestamps, numbers as numbers. Text of a typed
    table stays as it is, for the transformer to read."""
    kinds = table.kinds(roles.features)
    parts = []
    for _, columns in table.numbered(roles.features):
        parts.append(
            pa.table({name: handed_out(columns[name], kind, table) for name, kind in kinds.items()})
        )
    return pa.concat_tables(parts).to_pandas()


def handed_out(column: pa.Array, kind: str, table: Table) -> Any:
    is_own = table.typed and kind_of(column.type) == TEXT
    if is_own or (table.in_python and kind not in MOMENTS):
        return column
    return read_as(column, kind)


def encode_by(handed: Handed, tables: Mapping[str, Table], most_classes: int) -> Data:
    """(X, y) of each table by what was handed in."""
    roles, train = handed.roles, tables["train"]
    beside = Beside(roles, Labels(most_classes))
    for part, table in tables.items():
        same_columns(train, table, roles)
        for row, columns in table.numbered(beside.names(part)):
            beside.add(part, columns, table, row)
        if part not in beside.labels.codes:
            raise UidsError(f"{table.where} has no rows")
    beside.labels.refuse_ids(roles.target, train)
    y = beside.labels.typed()
    rows = part_rows(np.concatenate(beside.codes), roles, train) if roles.part else {}
    learn = rows.get("train", np.arange(len(y["train"])))
    fitted = handed.fit(train, learn, y["train"])
    parts: dict[str, Pair] = {
        part: (fitted.matrix(table), y[part]) for part, table in tables.items()
    }
    encoding = Encoding(fitted, fitted.notes(), id_table(beside.ids, train))
    return as_data(parts, features=fitted.named, part_rows=rows or None, encoding=encoding)
