"""A table: named columns of Arrow arrays, read some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

NUMBER, FLAG, TEXT = pa.float64(), pa.bool_(), pa.large_string()  # what a column can hold
MISSING = pa.array(pa_csv.ConvertOptions().null_values, TEXT)  # "", "NA", "NaN", "null", …

Columns = dict[str, Any]  # name ↦ arrow array: some rows of a table
Types = dict[str, Any]  # name ↦ NUMBER, FLAG or TEXT


@dataclass(frozen=True)
class Table:
    """A file with named columns that is read some rows at a time. ``where`` is for errors.

    ``types(names)`` is what these columns hold; ``batches(names)`` are their rows in order.
    """

    where: str
    columns: list[str]
    types: Callable[[Sequence[str]], Types]
    batches: Callable[[Sequence[str]], Iterator[Columns]]


def tidy(text: Any) -> Any:
    """Text without space around it, and null where it says that a value is missing."""
    text = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.is_in(text, value_set=MISSING), pa.scalar(None, TEXT), text)


def reads_as(text: Any, kind: Any) -> bool:
    try:
        pc.cast(text, kind)
    except pa.ArrowInvalid:
        return False
    return True
