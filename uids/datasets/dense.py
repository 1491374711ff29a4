"""Dense X and y of whatever kind, as arrays of numpy; what cannot be is one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from uids.datasets.frames.adopted import dense_numbers, is_frame
from uids.errors import UidsError


def as_dense(X: object, where: str) -> npt.NDArray[Any]:
    """A frame by its columns where numpy would make objects of them: numbers beside true and false,
    numbers that may be missing, numbers of Arrow."""
    array = as_array(X, f"{where}: X")
    if array.dtype == object and is_frame(X):
        return dense_numbers(X, where)
    return array


def as_labels(y: object, where: str) -> npt.NDArray[Any]:
    """(n,), also of one column (n, 1)."""
    array = as_array(y, f"{where}: y")
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def as_array(values: object, what: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # lists of several lengths
        lengths = [len(row) for row in values] if isinstance(values, list | tuple) else []
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is None:
            raise UidsError(f"{what} is no array: {error}") from error
        raise UidsError(
            f"{what} must have rows of one length: row 0 has {lengths[0]} values, row {odd} has "
            f"{lengths[odd]}"
        ) from error
