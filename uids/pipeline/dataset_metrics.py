"""What ``metrics.json`` says of the data, as types; see ``metrics.py``."""

from __future__ import annotations

from typing import TypedDict


class RowCounts(TypedDict):
    train: int
    validation: int
    test: int


class ColumnMetrics(TypedDict):
    """What became of one column of a table."""

    name: str
    kind: str
    features: int  # columns of X
    note: str


class _TableMetrics(TypedDict, total=False):
    """Of tables only, or beyond the contract."""

    source_rows: int  # of the training file, whatever part they are for
    file_format: str  # csv, parquet or libsvm, of a person's own files of these
    columns: list[ColumnMetrics]
    more_columns: int  # that are not told of


class DatasetMetrics(_TableMetrics):
    name: str
    rows: RowCounts
    features: int
    classes: int
    labels: list[str]
    flipped: int  # training rows that ``noise`` made wrong


def spelt(label: object) -> str:
    """1 for 1.0, as which LIBSVM text has its classes."""
    whole = isinstance(label, float) and label.is_integer()
    return f"{label:.0f}" if whole else str(label)
