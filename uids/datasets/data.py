"""Rows and labels, in the form that the rest relies on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from uids.datasets.csr import as_csr
from uids.errors import UidsError

Pair = tuple[Any, npt.NDArray[Any]]  # X (n, d), dense or CSR, and y (n,)
Parts = dict[str, Pair]  # "train", "validation", "test" ↦ (X, y)


class DataSet(Protocol):
    """What a data set is. What else it may have is listed in ``uids/datasets/adopted.py``."""

    def load(self) -> Any:
        """``Data``, or a plain pair (X, y)."""
        ...


@dataclass(frozen=True)
class Data:
    """What a data set hands back.

    X is (n, d), a numpy array or a CSR matrix; y is (n,) and holds labels of any kind. Where the
    source has its own validation or test rows, they are pairs (X, y) with the same features.
    ``paper_rows`` is N of the paper's split, see ``uids/datasets/public/public_set.py``.
    ``features`` are the names of the d columns, where they have some.
    """

    X: Any
    y: npt.NDArray[Any]
    validation: Pair | None = None
    test: Pair | None = None
    paper_rows: int | None = None
    features: Sequence[str] | None = None

    @property
    def separate(self) -> Parts:
        """The parts that the source itself keeps apart from the training rows."""
        pairs = {"validation": self.validation, "test": self.test}
        return {part: pair for part, pair in pairs.items() if pair is not None}

    @property
    def sources(self) -> dict[str, Any]:
        """X of the training rows and of each part that is kept apart from them."""
        return {"train": self.X, **{part: X for part, (X, _) in self.separate.items()}}


@dataclass(frozen=True)
class Arrays:
    """Data that a person has already: ``uids.run(dataset=(X, y))``."""

    data: Any = field(repr=False)

    def load(self) -> Any:
        return self.data


def as_data(parts: Parts, paper_rows: int | None = None) -> Data:
    return Data(*parts["train"], parts.get("validation"), parts.get("test"), paper_rows)


def check(data: Data, name: str) -> Data:
    """The data as dense or CSR, in floating point, finite, every row with its label; or an error
    that says what is wrong. Nothing is copied unless the form demands it."""
    X, y = _checked(data.X, data.y, f"dataset {name!r}")
    if data.features is not None and len(data.features) != X.shape[1]:
        raise UidsError(
            f"dataset {name!r} has {X.shape[1]} features and {len(data.features)} names for them"
        )
    parts: Parts = {}
    for part, (X_part, y_part) in data.separate.items():
        parts[part] = _checked(X_part, y_part, f"dataset {name!r}, {part} rows")
        width = parts[part][0].shape[1]
        if width != X.shape[1]:
            raise UidsError(
                f"dataset {name!r} has {X.shape[1]} features in its training rows "
                f"and {width} in its {part} rows"
            )
    return replace(data, X=X, y=y, validation=parts.get("validation"), test=parts.get("test"))


def _checked(X: Any, y: Any, where: str) -> Pair:
    refuse_masked(X, f"{where}: X")
    refuse_masked(y, f"{where}: y")
    X = as_csr(X, where) if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2 or 0 in X.shape:
        raise UidsError(f"{where}: X must have rows and columns (its shape is {X.shape})")
    if X.dtype.kind not in "fiub":
        raise UidsError(f"{where}: X must hold real numbers (its type is {X.dtype})")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    y = np.asarray(y)
    if y.shape != (X.shape[0],):
        raise UidsError(f"{where}: {X.shape[0]} rows, but labels of shape {y.shape}")
    missing = np.flatnonzero(missing_labels(y) if y.dtype == object else y != y)
    if len(missing):
        raise UidsError(
            f"{where}: {len(missing)} labels are missing, the first in row {missing[0]}"
        )
    values = X.data if sp.issparse(X) else X
    if not all_finite(values):
        bad = np.flatnonzero(~np.isfinite(values if values.ndim == 1 else values.sum(axis=1)))
        row = bad[0] if values.ndim == 2 else np.searchsorted(X.indptr, bad[0], side="right") - 1
        raise UidsError(
            f"{where}: X holds values that are not finite, the first in row {row}; "
            "remove or fill them"
        )
    return X, y


def refuse_masked(array: object, what: str) -> None:
    """numpy itself would drop the mask without a word, and take what lies under it."""
    if isinstance(array, np.ma.MaskedArray):
        masked = int(np.count_nonzero(array.mask))
        if masked:
            raise UidsError(
                f"{what} is a masked array with {masked:,} masked values: fill them (.filled(…)) "
                "or drop their rows"
            )


def missing_labels(y: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """None, NaN, and values such as pandas' NA that cannot even say whether they are themselves."""

    def is_missing(label: Any) -> bool:
        try:
            return label is None or bool(label != label)
        except (TypeError, ValueError):
            return True

    return np.fromiter((is_missing(label) for label in y), dtype=bool, count=len(y))


def all_finite(values: npt.NDArray[Any]) -> bool:
    # A sum is finite only if every term is: one pass and no array of booleans. A sum of finite
    # values can still overflow, so the slow look decides when the quick one says no.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())
