"""What a column can hold, and how its cells are read as that.

A kind is a word, so that it can be kept in a file: "number", "true/false", "text", or one of the
ways in which dates and times are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from uids.datasets.columns.number import FLAG as FLAG

NUMBER, TEXT = "number", "text"
ISO, ISO_NANOSECONDS, ISO_ZONE = "date", "date with nanoseconds", "date with a time zone"
# The last two can be told apart by a day beyond 12 only; see ``settled``.
BY_FORMAT = ("%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")
MOMENTS = (ISO, ISO_NANOSECONDS, ISO_ZONE, *BY_FORMAT)
ALL = (NUMBER, FLAG, *MOMENTS)

FLOAT, STRING = pa.float64(), pa.large_string()
MOMENT = pa.timestamp("us")  # without a zone; what has one is brought to UTC
# "", "NA", "NaN", "null", … as Arrow has them, and what else pandas takes as missing: the same file
# must be the same table in a frame.
MISSING = (*pa_csv.ConvertOptions().null_values, "None", "<NA>")
FEW = 64  # cells that mostly tell that a column does not hold what it might
FIRST_YEAR = 1000  # "05.01.24" would be read as of the year 24

_WRITTEN = {ISO: MOMENT, ISO_NANOSECONDS: pa.timestamp("ns"), ISO_ZONE: pa.timestamp("us", "UTC")}


def tidy(text: pa.Array) -> Any:
    """Text without space around it, and null where it says that a value is missing."""
    text = pc.utf8_trim_whitespace(text)
    return pc.if_else(
        pc.is_in(text, value_set=pa.array(MISSING, STRING)), pa.scalar(None, STRING), text
    )


def reads_as(text: pa.Array, kind: str) -> bool:
    """A few cells are tried first: Arrow makes an error of each bad cell before it raises one."""
    try:
        read_as(text[:FEW], kind)
        read_as(text, kind)
    except pa.ArrowInvalid:
        return False
    return True


def read_as(column: pa.Array, kind: str) -> Any:
    """Numbers as float64, true and false as booleans, moments as ``MOMENT``, text as ``STRING``; an
    ArrowException where a cell is nothing of the kind."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if kind in MOMENTS:
        return _moments(column, kind)
    if kind == NUMBER:
        if pa.types.is_time(column.type) or pa.types.is_duration(column.type):
            narrow = column.type.bit_width == 32
            column = column.cast(pa.int32() if narrow else pa.int64())
        return pc.cast(column, FLOAT, safe=False)
    return pc.cast(column, pa.bool_() if kind == FLAG else STRING, safe=False)


def _moments(column: pa.Array, kind: str) -> Any:
    if not is_text(column.type):
        return pc.cast(column, MOMENT, safe=False)
    if kind in _WRITTEN:
        return pc.cast(pc.cast(column, _WRITTEN[kind]), MOMENT, safe=False)
    moments = pc.cast(pc.strptime(column, format=kind, unit="s"), MOMENT)
    first = pc.min(pc.year(moments)).as_py()
    if first is not None and first < FIRST_YEAR:
        raise pa.ArrowInvalid(f"the year {first}")
    return moments


def settled(possible: list[str]) -> str:
    """Of the kinds that all cells can be read as the first; text where there is none, or where
    nobody can tell days from months."""
    both = {"%m/%d/%Y", "%d/%m/%Y"} <= {*possible}
    return TEXT if both and len(possible) == 2 else [*possible, TEXT][0]


def possible_kinds(
    batches: Iterable[Mapping[str, pa.Array]], names: Sequence[str]
) -> dict[str, list[str]]:
    """The kinds as which all cells of columns of tidy text can be read."""
    possible = {name: list(ALL) for name in names}
    for columns in batches:
        for name in names:
            kinds = possible[name]
            possible[name] = [kind for kind in kinds if reads_as(columns[name], kind)]
        if not any(possible.values()):
            break  # all are text, whatever follows
    return possible


def is_text(type: pa.DataType) -> bool:
    return bool(pa.types.is_string(type) or pa.types.is_large_string(type))


def kind_of(type: pa.DataType) -> str | None:
    """What a column of an Arrow type holds; None where that is nothing that can be encoded."""
    is_a = pa.types
    type = type.value_type if is_a.is_dictionary(type) else type
    if is_a.is_boolean(type):
        return FLAG
    if is_text(type):
        return TEXT
    if is_a.is_timestamp(type) or is_a.is_date(type):
        return ISO
    numbers = (is_a.is_integer, is_a.is_floating, is_a.is_decimal, is_a.is_null)
    if any(test(type) for test in (*numbers, is_a.is_time, is_a.is_duration)):
        return NUMBER
    return None
