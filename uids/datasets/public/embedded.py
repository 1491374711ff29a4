"""The data sets that scikit-learn embeds, kept in the cache: importing scikit-learn takes longer
than a run on one of them."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from uids.errors import UidsError
from uids.system.archive import read_archive, write_archive
from uids.system.folders import cache_folder

Table = tuple[npt.NDArray[Any], npt.NDArray[Any], list[str]]  # X, y, the names of the features


def embedded(name: str) -> Table:
    """Of the version of scikit-learn that is installed."""
    place = cache_folder() / "embedded" / f"{name}-{version('scikit-learn')}.npz"
    with suppress(UidsError, KeyError):  # not there, or damaged
        values, arrays = read_archive(place)
        return arrays["X"], arrays["y"], [str(feature) for feature in values["features"]]
    table = read(name)
    with suppress(OSError):  # a cache that cannot be written
        write_archive(place, {"features": table[2]}, {"X": table[0], "y": table[1]})
    return table


def read(name: str) -> Table:
    from sklearn import datasets

    load = {
        "breast_cancer": datasets.load_breast_cancer,
        "digits": datasets.load_digits,
        "wine": datasets.load_wine,
    }[name]
    loaded = load()
    names = [str(feature) for feature in loaded.feature_names]
    return np.asarray(loaded.data), np.asarray(loaded.target), names
