"""What is handed to ``fit``, checked by scikit-learn's own rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from uids.backends import Array
from uids.datasets.data import Data, Pair
from uids.errors import ComponentError, UidsError
from uids.estimators.adopted import is_sparse

FORM = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class InputError(UidsError, ValueError):
    """What cannot be done with the rows or parameters that are given; scikit-learn and whoever
    builds on it expects a ValueError."""


@contextmanager
def told_as_value_error() -> Iterator[None]:
    try:
        yield
    except ComponentError:
        raise
    except UidsError as error:
        raise InputError(str(error)) from error


def checked(estimator: BaseEstimator, X: object, y: object, X_val: object, y_val: object) -> Data:
    """Training rows, and validation rows where there are any; the estimator then has
    ``n_features_in_`` and, from frames, ``feature_names_in_``."""
    X_checked, y_checked = validate_data(estimator, X, y, **FORM, ensure_min_samples=2)
    check_classification_targets(y_checked)
    return Data(X_checked, y_checked, validation_rows(estimator, X_checked, X_val, y_val))


def validation_rows(
    estimator: BaseEstimator, X: Array, X_val: object, y_val: object
) -> Pair | None:
    if X_val is None and y_val is None:
        return None
    if X_val is None or y_val is None:
        missing = "X_val" if X_val is None else "y_val"
        raise InputError(f"{missing} is missing: give X_val and y_val together, or neither")
    X_checked = new_rows(estimator, X_val)
    if is_sparse(X_checked) != is_sparse(X):
        kinds = ["dense", "sparse"]
        raise InputError(
            f"X is {kinds[is_sparse(X)]} and X_val is {kinds[is_sparse(X_checked)]}: give both in "
            "one form"
        )
    y_checked = column_or_1d(y_val)
    check_consistent_length(X_checked, y_checked)
    return X_checked, y_checked


def new_rows(estimator: BaseEstimator, X: object) -> Array:
    """Rows with the features that the estimator was fitted on."""
    rows: Array = validate_data(estimator, X, **FORM, reset=False)
    return rows


def single_column(y: object) -> object:
    """y as one column, as imbalanced-learn takes it: also a frame of one column, and rows of zeros
    and a one, for each of which it is the number of the class."""
    if y is None:
        return None  # which is refused with the rows
    if type_of_target(y) != "multilabel-indicator":
        return column_or_1d(y)
    indicator = np.asarray(y)
    if (indicator.sum(axis=1) > 1).any():
        raise InputError("Multilabel and multioutput targets are not supported.")
    return indicator.argmax(axis=1)
