"""Small problems and the least of backends, for many tests."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from uids.backends import adopt
from uids.backends.numpy import Numpy
from uids.models import Rows

# UIDS_TEST_BACKEND=jax: the tests that stand on ``make_rows`` go through that backend, and those
# that are tried on several backends are tried on it too.
OTHER_BACKEND = os.environ.get("UIDS_TEST_BACKEND")
BACKENDS = list(dict.fromkeys(["numpy", "numba", "torch", *filter(None, [OTHER_BACKEND])]))


@dataclass(frozen=True)
class TwoProducts:
    """The least a backend may be."""

    def matrix(self, X):
        return Bare(X)


class Bare:
    def __init__(self, X):
        self._X = X
        self.shape = X.shape

    def dot(self, V):
        return self._X @ V

    def tdot(self, U):
        return self._X.T @ U


@dataclass(frozen=True)
class Viewing:
    """Two products, and rows that are views."""

    views = True

    def matrix(self, X):
        return ViewedBare(X)


class ViewedBare(Bare):
    def rows(self, index):
        return ViewedBare(self._X[index])


def make_rows(n=60, d=4, classes=2, seed=0, sparse=False, backend=None):
    """Rows of a problem that a linear model can half learn: the classes overlap."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if sparse:
        X *= rng.random((n, d)) < 0.5
    centre = rng.standard_normal((d, classes))
    y = (X @ centre + 2 * rng.standard_normal((n, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return Rows(
        adopt(backend or OTHER_BACKEND or Numpy(), sp.csr_matrix(X) if sparse else X),
        y.astype(np.int64),
        classes,
    )


def largest(fitted, rows, weights=None):
    """The gradient of F / (C Σω) in closed form, with nothing of uids' own but the rows."""
    X = rows.X.fetch().toarray() if rows.X.sparse else rows.X.fetch()
    weights = np.ones(len(rows)) if weights is None else weights
    theta = fitted.theta.reshape(-1, fitted.columns)
    if fitted.intercept:
        X = np.hstack([X, np.ones((len(X), 1))])
    Z = X @ theta
    if fitted.columns == 1:
        R = 1 / (1 + np.exp(-Z)) - rows.y[:, None]
    else:
        E = np.exp(Z - Z.max(axis=1, keepdims=True))
        R = E / E.sum(axis=1, keepdims=True) - np.eye(rows.classes)[rows.y]
    penalty = theta / fitted.C
    if fitted.intercept:
        penalty[-1] = 0
    return np.abs(X.T @ (weights[:, None] * R) + penalty).max() / weights.sum()


def uneven(case):
    """X with rows, columns or values of very different size, for which the dual is not."""
    rng = np.random.default_rng(0)
    X = sp.random(140, 2000, 0.02, "csr", rng=rng)
    y = rng.integers(0, 2, 140)
    kind, exponent = case.split()
    size = 10.0 ** int(exponent)
    if kind == "row":
        X = sp.diags_array(np.r_[size, np.ones(139)]) @ X
    elif kind == "columns":
        X = X @ sp.diags_array(np.where(np.arange(2000) % 50 == 0, size, 1.0))
    elif kind == "values":
        X.data = np.exp(np.log(size) * rng.standard_normal(X.nnz))
    else:
        X = X * size
    return sp.csr_matrix(X), y
