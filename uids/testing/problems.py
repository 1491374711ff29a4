"""Small problems on which components are checked: rows, an operator, scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from uids.backends import Array, Matrix
from uids.backends.numpy import Numpy
from uids.models import AdoptedFitted, Rows
from uids.models.adopted import adopt_model
from uids.scoring.influence import Influence, influence_at
from uids.scoring.scores import Scores
from uids.solvers import Operator
from uids.solvers.adopted import adopt_solver

Stored: TypeAlias = Any  # X as a backend is given it, an array or CSR: scipy has no types


def numbers(n: int, d: int, seed: int = 0, share: float = 0.6) -> Array:
    """Some of them 0; multiples of 1/256, so that a backend may store them as float32 without any
    loss, and only one that adds in float32 is off."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, d)) * 256) / 256
    X *= rng.random((n, d)) < share
    return X


def forms(X: Array) -> dict[str, Stored]:
    """X dense and as CSR."""
    return {"dense": X, "sparse": sp.csr_matrix(X)}


def labelled(X: Array, classes: int, seed: int = 0) -> Array:
    """Labels that a linear model can half learn, every class among them."""
    rng = np.random.default_rng(seed + 1)
    centre = rng.standard_normal((X.shape[1], classes))
    y = (X @ centre + rng.standard_normal((len(X), classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return y.astype(np.int64)


def counted(X: Array, seed: int = 0) -> Array:
    """Counts that a linear model can half learn, for models of numbers."""
    centre = np.random.default_rng(1).standard_normal(X.shape[1]) / X.shape[1]
    return np.random.default_rng(seed + 1).poisson(np.exp(1 + X @ centre)).astype(np.float64)


def rows_of(n: int, d: int, classes: int = 2, seed: int = 0, sparse: bool = False) -> Rows:
    """Of no classes: then y are counts, as floats."""
    X = numbers(n, d, seed)
    y = labelled(X, classes, seed) if classes else counted(X, seed)
    matrix: Matrix = Numpy().matrix(sp.csr_matrix(X) if sparse else X)
    return Rows(matrix, y, classes)


@dataclass(frozen=True)
class TwoProducts:
    """The least that a backend may be: whoever reaches behind its products finds nothing."""

    def matrix(self, X: Stored) -> Products:
        return Products(X)


class Products:
    def __init__(self, X: Stored) -> None:
        self._X, self.shape = X, X.shape

    def dot(self, V: Array) -> Array:
        return np.asarray(self._X @ V)

    def tdot(self, U: Array) -> Array:
        return np.asarray(self._X.T @ U)


class Made(Operator):
    """H = QᵀΛQ given by its eigenvalues, as a mean over as many rows; ``ridge`` is in them."""

    def __init__(self, eigenvalues: Array, ridge: float, seed: int = 0) -> None:
        d = len(eigenvalues)
        Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))
        self.ridge = ridge
        self.X = np.sqrt(np.maximum(eigenvalues - ridge, 0) * d)[:, None] * Q
        self.H = Q.T @ (eigenvalues[:, None] * Q)
        self.H = (self.H + self.H.T) / 2

    @property
    def size(self) -> int:
        return len(self.H)

    @property
    def rows(self) -> int:
        return len(self.X)

    @property
    def scale(self) -> float:
        return 1 / self.ridge

    def dot(self, V: Array) -> Array:
        return np.asarray(self.H @ V)

    def diagonal(self) -> Array:
        return np.diag(self.H).copy()

    def dense(self) -> Array:
        return self.H.copy()

    def dot_rows(self, V: Array, index: Array) -> Array:
        some = self.X[index]
        return np.asarray(some.T @ (some @ V) / len(index) + self.ridge * V)


@cache
def fit_of_all() -> AdoptedFitted:
    return adopt_model("logreg").fit(rows_of(60, 5))


@cache
def influence(n: int = 60) -> Influence:
    """Of the first n of 60 rows on 20 others, at a logistic regression of all 60."""
    train, judges = rows_of(60, 5), rows_of(20, 5, seed=9)
    fitted = fit_of_all()
    some = train.take(np.arange(n))
    return influence_at(fitted.curvature(train), some, judges, adopt_solver("direct"))


def scores(phi: Array | None = None, n: int = 60) -> Scores:
    """Real ones, or with other φ in their place; the arrays are the caller's own."""
    found = influence(n)
    fitted = fit_of_all()
    return Scores(
        phi=(found.phi if phi is None else phi).copy(),
        loss=fitted.losses(found.train).copy(),
        y=found.train.y.copy(),
        influence=found,
        full=fitted,
    )
