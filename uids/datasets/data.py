"""Rows and labels, in the form that the rest relies on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from uids.datasets.csr import as_csr
from uids.datasets.dense import as_dense, as_labels
from uids.datasets.elsewhere import Elsewhere
from uids.datasets.formats.adopted import Transformer
from uids.datasets.frames.adopted import column_names, in_order
from uids.datasets.units import Units
from uids.errors import UidsError

if TYPE_CHECKING:
    from uids.datasets.encoding import Encoding  # imports arrow

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

    X is (n, d), a numpy array or a CSR matrix, or lies ``Elsewhere``; y is (n,) and holds labels of
    any kind. Where the source has its own validation or test rows, they are pairs (X, y) with the
    same features. ``paper_rows`` is N of the paper's split, see
    ``uids/datasets/public/public_set.py``.
    ``features`` are the names of X's columns, where they have some. ``part_rows`` are the rows of
    X that are "train", "validation" and "test" where all of them lie in it; what is left out is
    split off the training rows. ``encoding`` is how a table became X.
    ``steps`` are a fitted transformer that X has been through since. ``used`` are the columns of
    the source that X has, where it has not all of them. ``units`` tell what the values of X are
    in a person's own, where nobody else does.
    """

    X: Any
    y: npt.NDArray[Any]
    validation: Pair | None = None
    test: Pair | None = None
    paper_rows: int | None = None
    features: Sequence[str] | None = None
    part_rows: Mapping[str, npt.NDArray[np.int64]] | None = None
    encoding: Encoding | None = None
    steps: Transformer | None = None
    used: npt.NDArray[np.int64] | None = None
    units: Units | None = None

    @property
    def own_units(self) -> Units | None:
        """Of the columns that X has now."""
        if self.steps is not None or self.used is not None:
            return None
        return self.units if self.encoding is None else self.encoding.encoder

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


def as_data(
    parts: Parts,
    paper_rows: int | None = None,
    features: Sequence[str] | None = None,
    part_rows: Mapping[str, npt.NDArray[np.int64]] | None = None,
    encoding: Encoding | None = None,
) -> Data:
    others = parts.get("validation"), parts.get("test")
    return Data(*parts["train"], *others, paper_rows, features, part_rows, encoding)


def check(data: Data, name: str) -> Data:
    """The data as dense or CSR, in floating point, finite, every row with its label; or an error
    that says what is wrong. Nothing is copied unless the form demands it."""
    X, y = _checked(data.X, data.y, f"dataset {name!r}")
    features = data.features if data.features is not None else column_names(data.X)
    if features is not None and len(features) != X.shape[1]:
        raise UidsError(f"dataset {name!r}: {len(features)} names for {X.shape[1]} features")
    parts: Parts = {}
    for part, (X_part, y_part) in data.separate.items():
        where = f"dataset {name!r}, {part} rows"
        if features is not None:
            X_part = in_order(X_part, features, f"dataset {name!r}: the frame of {part} rows")
        parts[part] = _checked(X_part, y_part, where)
        width = parts[part][0].shape[1]
        if width != X.shape[1]:
            raise UidsError(
                f"dataset {name!r} has {X.shape[1]} features in its training rows "
                f"and {width} in its {part} rows"
            )
    checked = replace(data, X=X, y=y, features=features)
    return replace(checked, validation=parts.get("validation"), test=parts.get("test"))


def _checked(X: Any, y: Any, where: str) -> Pair:
    refuse_masked(X, f"{where}: X")
    refuse_masked(y, f"{where}: y")
    if not isinstance(X, Elsewhere):
        X = as_csr(X, where) if sp.issparse(X) else as_dense(X, where)
    if len(X.shape) != 2 or 0 in X.shape:
        raise UidsError(f"{where}: X must have rows and columns (its shape is {X.shape})")
    if X.dtype.kind not in "fiub":
        raise UidsError(f"{where}: X must hold real numbers (its type is {X.dtype})")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    y = as_labels(y, where)
    if y.shape != (X.shape[0],):
        raise UidsError(f"{where}: {X.shape[0]} rows, but labels of shape {y.shape}")
    missing = np.flatnonzero(missing_labels(y) if y.dtype == object else y != y)
    if len(missing):
        raise UidsError(
            f"{where}: {len(missing)} labels are missing, the first in row {missing[0]}"
        )
    if isinstance(X, Elsewhere):
        row = X.infinite
    else:
        row = first_infinite(X.data, X.indptr) if sp.issparse(X) else first_infinite(X)
    if row is not None:
        raise UidsError(
            f"{where}: X holds values that are not finite, the first in row {row}; "
            "remove or fill them"
        )
    return X, y


def first_infinite(
    values: npt.NDArray[Any], starts: npt.NDArray[np.integer[Any]] | None = None
) -> int | None:
    """The first row with a value that is not finite; ``starts`` are those of the rows of CSR."""
    if all_finite(values):
        return None
    bad = np.flatnonzero(~np.isfinite(values if values.ndim == 1 else values.sum(axis=1)))[0]
    return int(bad if starts is None else np.searchsorted(starts, bad, side="right") - 1)


def check_rows(
    rows: object, width: int, features: Sequence[str] | None, used: npt.NDArray[Any] | None
) -> Any:
    """X of new rows for a model of ``width`` features, as dense or CSR; of a frame its columns in
    the order of the names. ``used`` are the columns to take of more."""
    where = "the new rows"
    if features is not None:
        rows = in_order(rows, features, "the frame")
    X = as_csr(rows, where) if sp.issparse(rows) else as_dense(rows, where)
    if X.ndim == 2 and used is not None and X.shape[1] > used.max():
        X = X[:, used]
    if X.ndim != 2 or X.shape[1] != width:
        raise UidsError(f"{where} must have {width} features (their shape is {X.shape})")
    return _checked(X, np.zeros(X.shape[0]), where)[0] if X.shape[0] else X


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
