"""Kinds of noise: which training rows are made wrong, and how, to see whether they are found.

A kind works on the training rows alone; only ``both`` touches validation labels too. Test rows stay
as they are. Where y are numbers, a wrong one is that of another of the wrong rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from uids.datasets.elsewhere import Elsewhere
from uids.datasets.settings import check_kind
from uids.errors import UidsError
from uids.system.streams import Stream, generator

LOOKING = ("region", "features")  # those that look at X

REGION_SHARE = 0.8  # of the labels in a region of ``region``: that many are wrong
FEATURE_SPREADS = 3.0  # standard deviation of ``features``, in those of the column
ROUNDING = 1e-12  # of a column's spread, relative to its mean
BLOCK = 4096  # rows that are looked at in one go where X is dense

Indices = npt.NDArray[np.int64]
Classes = npt.NDArray[Any]  # 0..K−1, one for each row; or numbers, where there are no classes
Vector = npt.NDArray[np.float64]
Source: TypeAlias = "npt.NDArray[np.float64] | sp.csr_matrix"  # or of float32


@dataclass(frozen=True)
class Clean:
    """Before the noise: ``X`` (N, d) is the source of the training rows, which are those numbered
    ``rows`` of it; ``y`` are their classes, of ``classes`` in all (0: they are numbers), and
    ``y_validation`` those of the validation rows."""

    X: Source
    rows: Indices
    y: Classes
    y_validation: Classes
    classes: int


@dataclass(frozen=True)
class Noisy:
    """After it: ``wrong`` are the positions among the training rows of those that were changed.
    X is the very source unless features were changed; then it is a copy."""

    X: Source
    y: Classes
    y_validation: Classes
    wrong: Indices


def add_noise(clean: Clean, noise: float, kind: str, seed: int) -> Noisy:
    """``noise`` is a share in [0, 1); what it is a share of, each kind says."""
    check_kind(kind)
    if noise and kind in LOOKING and isinstance(clean.X, Elsewhere):
        raise UidsError(
            f"noise_kind={kind} looks at X, and the rows lie {clean.X.where}: use "
            "noise_kind=uniform"
        )
    rng = generator(seed, Stream.NOISE)
    X, y, y_validation = clean.X, clean.y, clean.y_validation
    if kind == "features":
        X, wrong = _disturb(clean, noise, rng)
        return Noisy(X, y, y_validation, wrong)
    y, wrong = _LABELS[kind](clean, noise, rng)
    if kind == "both":
        other = generator(seed, Stream.VALIDATION_NOISE)
        y_validation, _ = flip(y_validation, clean.classes, noise, other)
    return Noisy(X, y, y_validation, wrong)


def flip(
    y: Classes, classes: int, noise: float, rng: np.random.Generator
) -> tuple[Classes, Indices]:
    """Exactly ``int(noise · n)`` labels changed to another class, and which rows they are."""
    count = int(noise * len(y))
    if count == 0:
        return y, np.empty(0, dtype=np.int64)
    flipped = np.sort(rng.permutation(len(y))[:count])
    return _to_others(y, classes, flipped, rng), flipped


def _to_others(y: Classes, classes: int, rows: Indices, rng: np.random.Generator) -> Classes:
    """A copy in which these rows have another class, each of the others being as likely; or, of
    numbers, the number of another of them, in a circle."""
    noisy = y.copy()
    if not classes:
        circle = rng.permutation(rows)
        noisy[circle] = y[np.roll(circle, 1)]
        return noisy
    noisy[rows] = (y[rows] + 1 + np.floor(rng.random(len(rows)) * (classes - 1))) % classes
    return noisy


def _flip_uniformly(
    clean: Clean, noise: float, rng: np.random.Generator
) -> tuple[Classes, Indices]:
    return flip(clean.y, clean.classes, noise, rng)


def _flip_by_class(clean: Clean, noise: float, rng: np.random.Generator) -> tuple[Classes, Indices]:
    """Of the n_k rows of each odd class k exactly ``int(noise · n_k)`` get the label k − 1. With
    two classes: some of class 1 are called 0, and none the other way."""
    if not clean.classes:
        raise UidsError("noise_kind=class is for classes, and y are numbers: use another kind")
    picked: list[Indices] = [np.empty(0, dtype=np.int64)]
    for k in range(1, clean.classes, 2):
        members = np.flatnonzero(clean.y == k)
        picked.append(rng.permutation(members)[: int(noise * len(members))])
    wrong = np.sort(np.concatenate(picked))
    noisy = clean.y.copy()
    noisy[wrong] -= 1
    return noisy, wrong


def _flip_a_region(clean: Clean, noise: float, rng: np.random.Generator) -> tuple[Classes, Indices]:
    """The region are the ``int(noise · n)`` training rows with the largest x·v for one random v;
    of them ``int(0.8 · that)`` are changed to another class."""
    count = int(noise * len(clean.y))
    if count == 0:
        return clean.y, np.empty(0, dtype=np.int64)
    # One product with the whole source in its own type: no copy of the training rows.
    v = _direction(clean, rng).astype(clean.X.dtype)
    along = (clean.X @ v)[clean.rows]
    region = np.argsort(-along, kind="stable")[:count]
    wrong = np.sort(rng.permutation(region)[: int(REGION_SHARE * count)])
    return _to_others(clean.y, clean.classes, wrong, rng), wrong


def _direction(clean: Clean, rng: np.random.Generator) -> Vector:
    """v_k = z_k / σ_k with z standard normal: no column counts for more than another. In sparse
    rows of more columns than rows, x·v would be the sum of a few numbers that no two rows share
    and mean nothing; there v is the difference of two training rows, along which rows do differ."""
    n, d = len(clean.rows), clean.X.shape[1]
    if not isinstance(clean.X, np.ndarray) and d > n > 1:
        one, other = clean.X[clean.rows[rng.permutation(n)[:2]]].toarray()
        return one - other
    spread = _spread(clean.X, clean.rows)
    z = rng.standard_normal(d)
    return np.divide(z, spread, out=np.zeros(d), where=spread > 0)


def _disturb(clean: Clean, noise: float, rng: np.random.Generator) -> tuple[Source, Indices]:
    """x_ik + 3 σ_k z_ik with z standard normal, for exactly ``int(noise · n)`` training rows, in a
    copy of the source: validation and test rows may be rows of it too. Of CSR rows the stored
    entries are changed, and the copy shares their places with the source."""
    count = int(noise * len(clean.y))
    if count == 0:
        return clean.X, np.empty(0, dtype=np.int64)
    X, wrong = clean.X, np.sort(rng.permutation(len(clean.y))[:count])
    spread = FEATURE_SPREADS * _spread(X, clean.rows)
    rows = clean.rows[wrong]
    if not isinstance(X, np.ndarray):
        entries = _stored(X.indptr, rows)
        values = np.array(X.data)
        values[entries] += spread[X.indices[entries]] * rng.standard_normal(len(entries))
        return type(X)((values, X.indices, X.indptr), shape=X.shape), wrong
    disturbed = np.array(X)
    for block in _blocks(rows):
        disturbed[block] += spread * rng.standard_normal((len(block), X.shape[1]))
    return disturbed, wrong


def _stored(indptr: Indices, rows: Indices) -> Indices:
    """Where the entries of these rows lie in the arrays of a CSR matrix, row after row."""
    starts = np.asarray(indptr[rows], dtype=np.int64)
    lengths = np.asarray(indptr[rows + 1], dtype=np.int64) - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def _spread(X: Source, rows: Indices) -> Vector:
    """σ_k, the standard deviation of each column over these rows; zeros that are not stored count
    as well. It is 0 where rounding alone would make a constant column differ from its mean."""
    n, d = len(rows), X.shape[1]
    if not isinstance(X, np.ndarray):
        entries = _stored(X.indptr, rows)
        column, value = X.indices[entries], X.data[entries]
        mean = np.bincount(column, value, minlength=d) / n
        # Around the mean, or the squares would cancel; each zero adds the square of the mean.
        zeros = n - np.bincount(column, minlength=d)
        squares = np.bincount(column, (value - mean[column]) ** 2, minlength=d) + zeros * mean**2
    else:
        zero = np.zeros(d)
        mean = sum((X[block].sum(axis=0, dtype=float) for block in _blocks(rows)), zero) / n
        squares = sum((((X[block] - mean) ** 2).sum(axis=0) for block in _blocks(rows)), zero)
    spread = np.sqrt(squares / n)
    return np.where(spread > ROUNDING * np.abs(mean), spread, 0.0)


def _blocks(rows: Indices) -> list[Indices]:
    return [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]


_LABELS: dict[str, Callable[[Clean, float, np.random.Generator], tuple[Classes, Indices]]] = {
    "uniform": _flip_uniformly,
    "class": _flip_by_class,
    "region": _flip_a_region,
    "both": _flip_uniformly,
}
