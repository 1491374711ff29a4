"""The door of tables: rows in whatever form a caller has them, asked for what they can do."""

from __future__ import annotations

from typing import Any

import numpy as np

from uids.backends import Array


def taken(table: Any, rows: Array) -> Any:
    """These rows of X or y, in its own form: frames keep columns, dtypes and index, sparse matrices
    their format, lists are lists. What else there is comes as an array."""
    if isinstance(table, list):
        return [table[row] for row in rows]
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if hasattr(table, "tocsr"):
        return table.tocsr()[rows].asformat(table.format)
    return table[rows] if hasattr(table, "shape") else np.asarray(table)[rows]


def is_sparse(table: Any) -> bool:
    return hasattr(table, "tocsr")
