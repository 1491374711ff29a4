"""Training, validation and test rows, and label noise on the training rows only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from uids.datasets import Data
from uids.errors import UidsError
from uids.pipeline.settings import SplitSettings

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """Rows of one part. X is all of its source, which other parts may share; ``row`` are the
    numbers, from 0, of the part's own rows in it, and ``y`` their classes, 0..K−1."""

    X: Any
    y: npt.NDArray[np.int64]
    row: Indices


@dataclass(frozen=True)
class Split:
    """``labels[k]`` is the original label of class k; ``flipped`` are positions in ``train``."""

    train: Part
    validation: Part
    test: Part | None
    labels: npt.NDArray[Any]
    flipped: Indices


def split(data: Data, settings: SplitSettings, noise: float, seed: int) -> Split:
    """Share out the rows, number the classes, and flip ``noise`` of the training labels."""
    labels, y, parts = encode(data)
    if settings.kind == "given" and "validation" not in parts:
        raise UidsError(
            "split.kind=given, but the data set has no validation rows of its own: "
            "give them, or use split.kind=random"
        )
    rng = np.random.default_rng([seed, 0])
    n = len(y)
    if settings.kind == "paper":
        settings = _paper(data, settings)
    m_validation = 0 if "validation" in parts else _count(settings.validation, n)
    m_test = 0 if "test" in parts or settings.kind == "given" else _count(settings.test, n)
    if m_validation + m_test >= n:
        raise UidsError(
            f"{n} rows cannot give {m_validation} for validation and {m_test} for test "
            "and keep any for training: lower split.validation or split.test"
        )
    cut = limit = n - m_validation - m_test
    order = np.arange(n)
    if settings.kind == "random":
        order = _order(y, len(labels), rng)
    elif settings.kind == "shift":
        limit = n // 2 if cut < n else n
        if cut < limit:
            raise UidsError(
                f"split.kind=shift takes validation and test rows from the second half of {n} "
                f"rows, which has not {m_validation} + {m_test}: lower split.validation or "
                "split.test"
            )
        earlier, later = (_order(half, len(labels), rng) for half in (y[:limit], y[limit:]))
        order = np.concatenate([earlier, limit + later])
    m_train = limit if settings.train is None else min(limit, _count(settings.train, n))
    # Sorted, so that a split keeps the order of the file and memory is read forwards.
    taken = {
        "train": np.sort(order[:m_train]),
        "validation": np.sort(order[cut : cut + m_validation]),
        "test": np.sort(order[cut + m_validation :]),
    }
    for name, index in taken.items():
        if len(index) and name not in parts:
            parts[name] = Part(data.X, y[index], index)
    train = parts["train"]
    if len(np.unique(train.y)) < len(labels):
        absent = labels[np.setdiff1d(np.arange(len(labels)), train.y)]
        raise UidsError(
            f"no training row is of class {some(absent)}: give more rows of it, or "
            "lower split.validation and split.test"
        )
    noisy, flipped = flip(train.y, len(labels), noise, np.random.default_rng([seed, 1]))
    train = Part(train.X, noisy, train.row)
    return Split(train, parts["validation"], parts.get("test"), labels, flipped)


def some(labels: npt.NDArray[Any], most: int = 3) -> str:
    """A few of them, and how many more there are."""
    more = f" and {len(labels) - most:,} more" if len(labels) > most else ""
    return ", ".join(map(str, labels[:most])) + more


def _paper(data: Data, settings: SplitSettings) -> SplitSettings:
    """The paper's split: sequential, int(0.7 N) rows for training, the rest of N for validation."""
    if data.paper_rows is None:
        raise UidsError("split.kind=paper, but the paper's split of this data set is not known")
    N = min(data.paper_rows, len(data.y))
    return replace(settings, kind="sequential", validation=N - int(0.7 * N), test=len(data.y) - N)


def flip(
    y: npt.NDArray[np.int64], classes: int, noise: float, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], Indices]:
    """Exactly ``int(noise · n)`` labels changed to another class, and which rows they are."""
    count = int(noise * len(y))
    if count == 0:
        return y, np.empty(0, dtype=np.int64)
    flipped = np.sort(rng.permutation(len(y))[:count])
    noisy = y.copy()
    noisy[flipped] = (y[flipped] + 1 + np.floor(rng.random(count) * (classes - 1))) % classes
    return noisy, flipped


def _order(y: npt.NDArray[np.int64], classes: int, rng: np.random.Generator) -> Indices:
    """A random order of which every stretch holds the classes in their shares.

    Within a class the rows are shuffled and given evenly spaced places in [0, 1); sorting all by
    place interleaves the classes, so that a cut anywhere is stratified to within a row.
    """
    place = np.empty(len(y))
    for k in range(classes):
        members = np.flatnonzero(y == k)
        place[members] = (rng.permutation(len(members)) + rng.random()) / max(1, len(members))
    return np.argsort(place, kind="stable")


def _count(size: float, n: int) -> int:
    return max(1, round(size * n)) if 0 < size < 1 else int(size)


def encode(
    data: Data,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], dict[str, Part]]:
    """(labels, y, parts): the classes of the training rows, y as 0..K−1, and the parts that the
    source itself separates."""
    try:
        labels = np.unique(data.y)
        y = np.searchsorted(labels, data.y)  # quicker than the inverse that unique would sort for
    except TypeError as error:
        raise UidsError(f"the labels are of several types, which have no order: {error}") from error
    if data.y.dtype.kind == "f" and len(labels) > max(20, len(y) // 2):
        raise UidsError(f"y has {len(labels):,} different values: it looks continuous, not classes")
    if len(labels) < 2:
        raise UidsError(f"the training labels are all {labels[0]!s}: two classes are needed")
    parts = {}
    for name in ("validation", "test"):
        pair = getattr(data, name)
        if pair is None:
            continue
        X, raw = pair
        try:
            code = np.searchsorted(labels, raw).clip(max=len(labels) - 1)
            strange = np.unique(raw[labels[code] != raw])
        except TypeError as error:
            raise UidsError(
                f"the {name} labels are of another type than the training labels: {error}"
            ) from error
        if len(strange):
            raise UidsError(
                f"the {name} rows have the label {strange[0]!s}, which no training row has"
            )
        parts[name] = Part(X, code.astype(np.int64), np.arange(len(code)))
    return labels, y.astype(np.int64), parts
