"""The door of frames: anything with named columns that can be had as an Arrow table.

pandas frames come in by Arrow's own way, polars and others by ``to_arrow()`` or by the Arrow C
stream (``__arrow_c_stream__``). None of those packages is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from uids.errors import UidsError, one_line

if TYPE_CHECKING:
    import pyarrow as pa

REASON = 200  # characters that are shown of the reason why a frame cannot be read


def is_pandas(frame: Any) -> bool:
    cls = type(frame)
    return cls.__module__.partition(".")[0] == "pandas" and cls.__name__ == "DataFrame"


def is_frame(value: Any) -> bool:
    """Whether it has named columns. Of an Arrow stream only those that are tables do."""
    if isinstance(value, type):
        return False
    named = hasattr(value, "columns") or hasattr(value, "column_names")
    speaks = hasattr(value, "to_arrow") or hasattr(value, "__arrow_c_stream__")
    return is_pandas(value) or (named and speaks)


def as_arrow(frame: Any, where: str = "the frame") -> pa.Table:
    """The same columns and rows; no index."""
    import pyarrow as pa

    try:
        if isinstance(frame, pa.Table):
            return frame
        if is_pandas(frame):
            return pa.Table.from_pandas(frame, preserve_index=False)
        if hasattr(frame, "to_arrow"):
            return pa.table(frame.to_arrow())
        return pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        mixed = mixed_column(frame) if is_pandas(frame) else None
        if mixed is not None:
            name, value = mixed
            raise UidsError(
                f"{where}: column {name!r} holds numbers and text ({value[:REASON]!r}): make all "
                f"of it numbers, by pandas.to_numeric(…, errors='coerce'), or text, by .astype(str)"
            ) from error
        reason = one_line(error)[:REASON]
        raise UidsError(f"{where}: a column is neither numbers nor text nor dates: {reason}") from (
            error
        )


def mixed_column(frame: Any) -> tuple[str, str] | None:
    """The first column of a pandas frame that has numbers and text, and the first of its texts."""
    for name, column in frame.items():
        if column.dtype != object:
            continue
        known = column[column.notna()]
        texts = [value for value in known if isinstance(value, str)]
        if texts and any(isinstance(value, int | float | np.number) for value in known):
            return str(name), texts[0]
    return None


def column_names(frame: Any) -> list[str] | None:
    """None where it is no frame."""
    if not is_frame(frame):
        return None
    names = frame.column_names if hasattr(frame, "column_names") else frame.columns
    return [str(name) for name in names]


def in_order(frame: Any, names: Sequence[str], where: str) -> Any:
    """The frame with its columns in this order; an error where it lacks one or has another."""
    own = column_names(frame)
    if own is None or own == list(names):
        return frame
    lacks, more = [n for n in names if n not in own], [n for n in own if n not in names]
    for what, wrong in (("lacks", lacks), ("has", more)):
        if wrong:
            other = "have" if what == "lacks" else "do not have"
            listed = ", ".join(map(repr, wrong[:5])) + (" and more" if len(wrong) > 5 else "")
            raise UidsError(f"{where} {what} the column {listed}, which the training rows {other}")
    places = [own.index(name) for name in names]
    return frame.iloc[:, places] if is_pandas(frame) else as_arrow(frame, where).select(places)


def dense_numbers(frame: Any, where: str) -> npt.NDArray[np.float64]:
    """The columns as they are, (n, d), NaN where a value is missing. True and false are 1 and 0."""
    from uids.datasets.formats.kinds import FLAG, FLOAT, NUMBER, kind_of, read_as

    table = as_arrow(frame, where)
    kinds = {name: kind_of(table.schema.field(name).type) for name in table.column_names}
    other = [name for name, kind in kinds.items() if kind not in (NUMBER, FLAG)]
    if other:
        listed = ", ".join(map(repr, other[:5])) + (" and more" if len(other) > 5 else "")
        raise UidsError(
            f"{where}: X has columns that do not hold numbers: {listed}; uids.run(frame, target=…) "
            "encodes them"
        )
    X = np.empty((table.num_rows, table.num_columns))
    for j, (name, kind) in enumerate(kinds.items()):
        X[:, j] = (
            read_as(table[name].combine_chunks(), kind or NUMBER)
            .cast(FLOAT)
            .to_numpy(zero_copy_only=False)
        )
    return X


def kept_of(frame: Any, kept: npt.NDArray[np.bool_]) -> Any:
    """The rows of a frame of any kind where ``kept``, in a frame of the same kind."""
    import pyarrow as pa

    if is_pandas(frame):
        return frame[kept]
    if isinstance(frame, pa.Table):
        return frame.filter(pa.array(kept))
    if callable(getattr(frame, "filter", None)):  # polars
        return frame.filter(kept)
    return as_arrow(frame).filter(pa.array(kept))
