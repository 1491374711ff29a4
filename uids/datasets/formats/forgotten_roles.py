"""Columns to learn from that are rather ids or parts: refused by name, or told of."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from uids.datasets.columns.category import Category
from uids.datasets.columns.column import Column
from uids.datasets.columns.number import Number
from uids.datasets.formats.roles import CODES, PARTS, Roles
from uids.datasets.formats.table import Table
from uids.errors import UidsError, UidsWarning


def also(table: Table, option: str, name: str, given: Sequence[str]) -> str:
    """The words that give the column this role, beside those that have it already."""
    between = '","' if table.in_python else ","
    many = bool(given) or option != "id"
    return table.setting(option, between.join([*given, name]), many=many)


def refuse_ids(table: Table, columns: Sequence[Column], roles: Roles) -> None:
    """Columns of text in which nearly every row has a value of its own: as many columns of X, each
    of one row, from which nothing can be learned."""
    for column in columns:
        if isinstance(column, Category) and column.is_id:
            name = column.name
            others = [
                c.name for c in columns if isinstance(c, Category) and c.is_id and c != column
            ]
            more = f" (so is {', '.join(others)})" if others else ""
            raise UidsError(
                f"{name}: {column.distinct:,} values in {column.rows:,} rows; an id? "
                f"{also(table, 'id', name, roles.ids)} or {also(table, 'drop', name, roles.drop)}; "
                f"words? {also(table, 'text', name, roles.text)}{more}"
            )


def warn_of_ids(table: Table, columns: Sequence[Column], roles: Roles) -> None:
    """Columns of whole numbers that count the rows, or go up from row to row: one can learn from
    them, and should not."""
    for column in columns:
        if isinstance(column, Number) and column.is_id:
            name = column.name
            warnings.warn(
                f"{name}: {column.id_hint} {also(table, 'id', name, roles.ids)} or "
                f"{also(table, 'drop', name, roles.drop)}",
                UidsWarning,
                stacklevel=2,
            )


def refuse_parts(table: Table, columns: Sequence[Column], roles: Roles) -> None:
    """Columns that say train and validation or test, and nothing else: all rows would be trained
    on."""
    for column in columns:
        if not isinstance(column, Category) or column.hashed or len(column.values) > len(CODES):
            continue
        codes = {CODES.get(str(value).lower()) for value in column.values.to_pylist()}
        if None in codes or 0 not in codes or len(codes) < 2:
            continue
        *first, last = [part for code, part in enumerate(PARTS) if code in codes]
        name = column.name
        raise UidsError(
            f"column {name!r} holds {', '.join(first)} and {last}: {table.setting('part', name)}, "
            f"or {also(table, 'drop', name, roles.drop)}"
        )
