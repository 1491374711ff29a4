"""Which training rows are meant: by numbers in the file, by the person's ids, or in a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uids.backends import Array
from uids.datasets.frames.adopted import as_arrow, column_names
from uids.errors import UidsError

if TYPE_CHECKING:
    import pyarrow as pa

COLUMN = "row"  # of a frame, as result.dropped() has it
HOW = "give row numbers as in result.row, ids, or a frame with a column 'row'"


def positions_of(asked: Any, row: Array, ids: pa.Table | None) -> Array:
    """Places among the training rows of one number or id, or of several. Whole numbers are those of
    rows; only where no row has any of them are they ids."""
    wanted = listed(asked)
    numbers = wanted.dtype.kind in "iu"
    found = places(wanted, row) if numbers else np.full(len(wanted), -1)
    if (found >= 0).all():
        return found
    if ids is not None and ids.num_columns == 1 and (found < 0).all():
        name = ids.column_names[0]
        return by_id(wanted.tolist(), name, ids[name].to_pylist())
    strange = wanted[found < 0][0]
    what = f"number {strange}" if numbers else f"id {str(strange)!r:.60}"
    raise UidsError(f"no training row has the {what}: see influence.parquet, or result.row")


def listed(asked: Any) -> Array:
    """Numbers or ids, one after the other."""
    names = column_names(asked)
    if names is not None:
        if COLUMN not in names:
            raise UidsError(f"the frame has no column {COLUMN!r}: {HOW}")
        asked = as_arrow(asked)[COLUMN].to_numpy()
    try:
        wanted = np.atleast_1d(np.asarray(asked))
    except ValueError as error:  # lists of different lengths
        raise UidsError(f"rows cannot be told from a {type(asked).__name__}: {HOW}") from error
    if len(wanted) and (wanted.ndim > 1 or wanted.dtype.kind in "bfc"):
        what = f"{type(asked).__name__} of {wanted.dtype}, shape {wanted.shape}"
        raise UidsError(f"rows cannot be told from a {what}: {HOW}")
    return wanted


def places(wanted: Array, row: Array) -> Array:
    """The place of each number in ``row``, -1 where it is not there."""
    order = np.argsort(row, kind="stable")
    place = order[np.searchsorted(row, wanted, sorter=order).clip(max=len(order) - 1)]
    return np.where(row[place] == wanted, place, -1)


def by_id(wanted: list[Any], name: str, ids: list[Any]) -> Array:
    """As text: an id may be a number in one place and text in another. Of rows with the same id the
    first."""
    place: dict[str, int] = {}
    for i, each in enumerate(ids):
        place.setdefault(str(each), i)
    for each in wanted:
        if str(each) not in place:
            what = f"{name} {str(each)!r:.60}"
            raise UidsError(f"no training row has the {what}: see influence.parquet")
    return np.array([place[str(each)] for each in wanted], dtype=np.int64)
