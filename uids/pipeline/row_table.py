"""One line for each training row of a run, with the person's ids: as an Arrow table, and as frames
of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from uids.backends import Array
from uids.datasets.frames.adopted import column_names, kept_of
from uids.errors import UidsError

if TYPE_CHECKING:
    from uids.pipeline.result import Result


# The columns of the table itself, in the order in which a frame has them.
OWN = (
    *("row", "label", "influence", "change", "probability", "kept"),
    *("label_error", "suggested_label", "flipped"),
)


def plain_labels(labels: Array) -> Array:
    return labels.astype(str) if labels.dtype == object else labels


def arrow(values: Array) -> pa.Array:
    """The same as ``pa.array``, which imports pandas to ask whether it is a series."""
    kind, size = values.dtype.kind, len(values)
    if kind == "b":
        bits = np.packbits(values, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), size, [None, pa.py_buffer(bits)])
    if kind in "iuf" and values.dtype.isnative:
        whole = np.ascontiguousarray(values)
        of = pa.from_numpy_dtype(values.dtype)
        return pa.Array.from_buffers(of, size, [None, pa.py_buffer(whole)])
    return pa.array(values)


def values(column: pa.ChunkedArray) -> Array:
    """Numbers or flags of a column without gaps: the same as its ``to_numpy``, which imports
    pandas too."""
    whole = column.combine_chunks()
    if pa.types.is_boolean(whole.type):
        return np.from_dlpack(whole.cast(pa.uint8())).astype(bool)
    return np.from_dlpack(whole)


def row_table(result: Result) -> pa.Table:
    """row, label, influence, probability, kept, change, label_error, suggested_label, flipped where
    noise was added, and the ids; in training order."""
    columns = {
        "row": result.row,
        "label": plain_labels(result.label),
        "influence": result.influence,
        "probability": result.probability,
        "kept": result.kept,
        "change": result.change,
        **audit_columns(result),
        **({"flipped": result.flipped} if result.flipped.any() else {}),
    }
    table = pa.table({name: arrow(values) for name, values in columns.items()})
    for name, ids in id_columns(result).items():
        table = table.append_column(name, ids)
    return table


def audit_columns(result: Result) -> dict[str, Array]:
    """None of numbers."""
    if result.label_error is None or result.suggested_label is None:
        return {}
    suggested = plain_labels(result.suggested_label)
    return {"label_error": result.label_error, "suggested_label": suggested}


def id_columns(result: Result) -> dict[str, Any]:
    """Under their own names; one that is called as another column is has ``_id`` behind it."""
    if result.ids is None:
        return {}
    names = result.ids.column_names
    return {f"{name}_id" if name in OWN else name: result.ids[name] for name in names}


def dropped_table(table: pa.Table, ids: list[str]) -> pa.Table:
    """The dropped rows, most harmful first: ids, row, label, influence, change, label_error, and
    the suggested label where it is another."""
    gone = table.filter(pc.invert(table["kept"])).sort_by([("influence", "descending")])
    names = ["row", "label", "influence", "change"]
    if "label_error" not in table.column_names:
        return gone.select([*ids, *names])
    same = pc.equal(gone["suggested_label"], gone["label"])
    other = pc.if_else(same, pa.nulls(1, gone["label"].type)[0], gone["suggested_label"])
    return gone.select([*ids, *names, "label_error"]).append_column("suggested_label", other)


def frame(result: Result) -> Any:
    """All training rows, the ids first."""
    table, ids = row_table(result), list(id_columns(result))
    return pandas(table.select([*ids, *(name for name in OWN if name in table.column_names)]))


def dropped(result: Result) -> Any:
    """The dropped rows, most harmful first."""
    rows = frame(result)
    return rows[~rows["kept"]].sort_values("influence", ascending=False, ignore_index=True)


def pandas(table: pa.Table) -> Any:
    try:
        return table.to_pandas()
    except ImportError as error:
        raise UidsError(f"a frame needs pandas: pip install pandas ({error})") from error


def keeps(row: Array, kept: Array, source_rows: int) -> Any:
    """Of each row of the training source whether it stays: all but the training rows that were
    dropped."""
    stays = np.ones(source_rows, dtype=bool)
    stays[row[~kept]] = False
    return stays


def kept_rows(result: Result, given: Any) -> Any:
    if column_names(given) is None:
        raise UidsError(f"kept_rows wants the training frame, not {type(given).__name__}")
    if len(given) != result.source_rows:
        raise UidsError(
            f"the frame has {len(given):,} rows, and that of the run had {result.source_rows:,}"
        )
    return kept_of(given, keeps(result.row, result.kept, result.source_rows))
