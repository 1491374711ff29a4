"""Arrays that go to a component of another package and come back from it."""

from __future__ import annotations

import math

import numpy as np

from uids.backends.matrix import Array
from uids.errors import Blame, ComponentError

# Rows of what is handed over again and again that are looked at, evenly spread: a pass over all of
# them each time would add up to products.
SOME = 1024


def handed(
    value: object, shape: tuple[int, ...], what: str, blame: Blame, finite: bool = True
) -> Array:
    """What a component gave: an array of real numbers of that shape, all finite, in float64; or an
    error that names whoever gave it. ``finite=False`` leaves the numbers themselves unseen.

    What uids itself gives is proved by its own tests, and passes as it is.
    """
    with blame:
        array = np.asarray(value)
    if blame.trusted:
        return array
    if value is None or array.dtype.kind not in "fiub":
        kind = type(value).__name__ if array.ndim == 0 else f"array of {array.dtype}"
        raise ComponentError(f"{blame.who} gave a {kind} where {what}, real numbers, are needed")
    if array.shape != shape:
        raise ComponentError(
            f"{blame.who} gave {what} of shape {array.shape} where {shape} is needed"
        )
    array = array.astype(np.float64, copy=False)
    if finite and not all_finite(array):
        bad = np.argwhere(~np.isfinite(array))
        first = ", ".join(str(place) for place in bad[0])
        raise ComponentError(
            f"{blame.who} gave {what} of which {len(bad):,} of {array.size:,} are not finite, the "
            f"first at [{first}]"
        )
    return array


def all_finite(array: Array) -> bool:
    """By a sum, which is one pass and no array of booleans; a sum of finite numbers can still
    overflow, so the slow look decides where the quick one says no."""
    return math.isfinite(quick_sum(array)) or bool(np.isfinite(array).all())


def quick_sum(array: Array) -> float:
    """einsum's is a quarter quicker than ``sum``, which splits to round less, and it warns of
    nothing: what comes after a product finds none of its code in the cache, and there
    ``np.errstate`` alone would take as long as a look at thousands of numbers."""
    return float(np.einsum("i->", array if array.ndim == 1 else array.ravel(order="K")))


def some(array: Array) -> Array:
    """Up to 2 · SOME rows of it, the first and then every so many."""
    return array[:: max(1, len(array) // SOME)]


def read_only(array: Array) -> Array:
    """A view that cannot be changed: for what a component is given and others use too."""
    view = array.view()
    view.flags.writeable = False
    return view


def writable(array: object) -> Array:
    """As a numpy array that may be changed in place; some libraries lend theirs read-only."""
    return np.require(array, requirements=["W"])
