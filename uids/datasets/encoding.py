"""What is known of a table beside X and y: what was made of its columns, the encoder that was
learned, and the person's own ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from uids.datasets.formats.roles import Roles
from uids.datasets.formats.table import Table
from uids.datasets.units import Own


@dataclass(frozen=True)
class ColumnNote:
    """What became of one column of a table."""

    name: str
    kind: str  # number, true/false, category, date, text, encoder; target, id, part, dropped
    features: int  # columns of X
    note: str


class RowEncoder(Protocol):
    """What makes X of new rows."""

    @property
    def width(self) -> int: ...

    @property
    def roles(self) -> Roles:
        """Which column of the table is what."""
        ...

    def matrix(self, table: Table) -> Any:
        """X of these rows, dense or CSR; an error where a column is missing."""
        ...

    def features(self) -> list[str] | None:
        """The names of X's columns, where they have some."""
        ...

    def own_value(self, feature: int, value: float) -> Own:
        """What a value of X was in the table, where that can be told."""
        ...


@dataclass(frozen=True)
class Encoding:
    """``ids`` has a row for each row of the training source, and the columns of ids under their
    names; ``ids_known`` names them also where there are no rows."""

    encoder: RowEncoder
    columns: Sequence[ColumnNote]
    ids: pa.Table = field(repr=False)
