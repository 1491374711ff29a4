"""Training, validation and test rows, and noise on them (see ``noise.py``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from uids.datasets.data import Data
from uids.datasets.noise import Classes, Clean, Indices, add_noise
from uids.datasets.settings import SplitSettings
from uids.errors import UidsError
from uids.system.streams import Stream, generator

CLASSES = 20  # different numbers that may well be classes, however few the rows
ROWS_EACH = 5  # rows of a class on average, below which numbers are no classes


@dataclass(frozen=True)
class Part:
    """Rows of one part. ``origin`` names whose file they lie in: "train", "validation" or "test";
    a part that is split off the training file has "train". ``row`` are the numbers of its rows in
    that file, from 0, and ``y`` their classes, or numbers where there are none."""

    origin: str
    y: npt.NDArray[Any]
    row: Indices


@dataclass(frozen=True)
class Split:
    """``labels[k]`` is the original label of class k, none where y are numbers; ``flipped`` are the
    positions in ``train`` of the rows that noise made wrong, be it their label or, with
    ``noise_kind=features``, the rest; ``sources`` maps the name of a source to all of its X, which
    parts may share."""

    train: Part
    validation: Part
    test: Part | None
    labels: npt.NDArray[Any]
    flipped: Indices
    sources: dict[str, Any]


def split(
    data: Data,
    settings: SplitSettings,
    noise: float,
    seed: int,
    noise_kind: str = "uniform",
    continuous: bool = False,
) -> Split:
    """Share out the rows, number the classes, and make ``noise`` of the training rows wrong. Where
    y is ``continuous`` there are no classes to number."""
    labels, y, parts = numbered(data) if continuous else encode(data)
    pool: Indices = np.arange(len(y))
    if data.part_rows is not None:
        given = {part: np.asarray(rows) for part, rows in data.part_rows.items()}
        pool = given.pop("train")
        parts |= {part: Part("train", y[rows], rows) for part, rows in given.items()}
    if settings.kind == "given" and "validation" not in parts:
        raise UidsError(
            "split.kind=given, but the data set has no validation rows of its own: "
            "give them, or use split.kind=random"
        )
    if settings.kind == "paper":
        settings = _paper(data, settings)
    n = len(pool)
    m_validation = 0 if "validation" in parts else _count(settings.validation, n)
    m_test = 0 if "test" in parts or settings.kind == "given" else _count(settings.test, n)
    if m_validation + m_test >= n:
        raise UidsError(
            f"{n} rows cannot give {m_validation} for validation and {m_test} for test "
            "and keep any for training: lower split.validation or split.test"
        )
    strata = np.zeros(n, dtype=np.int64) if continuous else y[pool]
    order, most = _order(strata, settings.kind, (m_validation, m_test), seed)
    m_train = most if settings.train is None else min(most, _count(settings.train, n))
    cut = n - m_validation - m_test
    # Sorted, so that a split keeps the order of the file and memory is read forwards.
    rows_of = {
        "train": np.sort(pool[order[:m_train]]),
        "validation": np.sort(pool[order[cut : cut + m_validation]]),
        "test": np.sort(pool[order[cut + m_validation :]]),
    }
    for name, rows in rows_of.items():
        if len(rows) and name not in parts:
            parts[name] = Part("train", y[rows], rows)
    train = parts["train"]
    if not continuous:
        refuse_absent(data.y, labels, train.y)
    validation, sources = parts["validation"], data.sources
    clean = Clean(sources["train"], train.row, train.y, validation.y, len(labels))
    noisy = add_noise(clean, noise, noise_kind, seed)
    return Split(
        replace(train, y=noisy.y),
        replace(validation, y=noisy.y_validation),
        parts.get("test"),
        labels,
        noisy.wrong,
        {**sources, "train": noisy.X},
    )


def _order(y: Classes, kind: str, held_out: tuple[int, int], seed: int) -> tuple[Indices, int]:
    """All rows in the order in which training, validation and test rows are taken, and the most of
    them that may be training rows. ``held_out`` is how many are for validation and test."""
    n, cut, classes = len(y), len(y) - sum(held_out), int(y.max(initial=0)) + 1
    rng = generator(seed, Stream.SPLIT)
    if kind == "random":
        return _stratified(y, classes, rng), cut
    if kind != "shift":
        return np.arange(n), cut
    half = n // 2 if cut < n else n
    if cut < half:
        raise UidsError(
            f"split.kind=shift takes validation and test rows from the second half of {n} rows, "
            f"which is less than {held_out[0]} + {held_out[1]}: lower split.validation or "
            "split.test"
        )
    earlier, later = (_stratified(rows, classes, rng) for rows in (y[:half], y[half:]))
    return np.concatenate([earlier, half + later]), half


def refuse_absent(y: npt.NDArray[Any], labels: npt.NDArray[Any], train: Classes) -> None:
    """Classes that no training row is of."""
    absent = labels[np.setdiff1d(np.arange(len(labels)), train)]
    if len(absent):
        refuse_continuous(y, labels, 0)
        raise UidsError(
            f"no training row is of class {some(absent)}: give more rows of it, or "
            "lower split.validation and split.test"
        )


def refuse_continuous(y: npt.NDArray[Any], labels: npt.NDArray[Any], most: int) -> None:
    """Numbers of more different values than that are no classes, nor are more than a few that are
    not whole."""
    whole = y.dtype.kind in "iu" or (y.dtype.kind == "f" and bool((labels == labels.round()).all()))
    if y.dtype.kind in "fiu" and len(labels) > max(CLASSES, most if whole else 0):
        raise UidsError(
            f"y looks continuous: it has {len(labels):,} different values, too many to be classes; "
            "numbers are for a model of numbers, as model=ridge of the package uids-glm"
        )


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


def _stratified(y: Classes, classes: int, rng: np.random.Generator) -> Indices:
    """A random order of which every stretch holds the classes in their shares.

    Within a class the rows are shuffled and given evenly spaced places in [0, 1); sorting all by
    place interleaves the classes, so that a cut anywhere is stratified to within a row. A row that
    is alone in its class comes first: there is no fit without it.
    """
    place = np.empty(len(y))
    for k in range(classes):
        members = np.flatnonzero(y == k)
        place[members] = (rng.permutation(len(members)) + rng.random()) / max(1, len(members))
        if len(members) == 1:
            place[members] = 0
    return np.argsort(place, kind="stable")


def _count(size: float, n: int) -> int:
    return max(1, round(size * n)) if 0 < size < 1 else int(size)


def numbered(data: Data) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64], dict[str, Part]]:
    """As ``encode`` gives it, for a model of numbers: no labels, y and parts in float64."""

    def numbers(y: npt.NDArray[Any], part: str) -> npt.NDArray[np.float64]:
        try:
            values = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise UidsError(
                f"the model predicts numbers, and y of the {part} rows holds others: {error}"
            ) from error
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise UidsError(f"y of the {part} rows is {values[bad[0]]} in row {bad[0]}")
        return values

    parts = {
        name: Part(name, numbers(y, name), np.arange(len(y)))
        for name, (_, y) in data.separate.items()
    }
    return np.empty(0), numbers(data.y, "training"), parts


def encode(data: Data) -> tuple[npt.NDArray[Any], Classes, dict[str, Part]]:
    """(labels, y, parts): the label of each class, the classes of the training rows, and the parts
    that the data set itself keeps apart from them."""
    try:
        labels = np.unique(data.y)
        y = np.searchsorted(labels, data.y)  # quicker than the inverse that unique would sort for
    except TypeError as error:
        raise UidsError(f"the labels are of several types, which have no order: {error}") from error
    refuse_continuous(data.y, labels, len(y) // ROWS_EACH)
    if len(labels) < 2:
        raise UidsError(f"the training labels are all {labels[0]!s}: two classes are needed")
    parts = {}
    for name, (_, given) in data.separate.items():
        try:
            codes = np.searchsorted(labels, given).clip(max=len(labels) - 1)
            strange = np.unique(given[labels[codes] != given])
        except TypeError as error:
            raise UidsError(
                f"the {name} labels are of another type than the training labels: {error}"
            ) from error
        if len(strange):
            raise UidsError(
                f"the {name} rows have the label {strange[0]!s}, which no training row has"
            )
        parts[name] = Part(name, codes.astype(np.int64), np.arange(len(codes)))
    return labels, y.astype(np.int64), parts
