"""Problems as ``rivals.py`` writes them, and scikit-learn's fits on them: for the interpreter of
.venv-rivals, which has no uids."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

FOLDS = 5
FEW_COLUMNS = 200  # up to which the Hessian of a binary model is factorised
ROUNDING = 1e-12  # of an eigenvalue, relative to the largest

Array = np.ndarray
Fold = tuple[Array, Array]  # positions of the validation rows to fit with, and to judge with


@dataclass(frozen=True)
class Problem:
    """Training, validation and test rows, and which of the training rows are wrong. The rows of
    the first two are those of ``X``, training rows first."""

    X: Any
    y: Array
    n: int  # training rows
    X_test: Any
    y_test: Array
    wrong: Array  # positions
    classes: int
    seed: int

    @property
    def validation(self) -> Array:
        return np.arange(self.n, len(self.y))

    def folds(self) -> Iterator[Fold]:
        V = self.validation
        for rest, judged in self.shares(self.y[V]):
            yield V[rest], V[judged]

    def shares(self, y: Array) -> Iterator[Fold]:
        cut = StratifiedKFold(FOLDS, shuffle=True, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class of fewer rows than folds
            yield from list(cut.split(np.zeros(len(y)), y))


def read(path: str) -> Problem:
    with np.load(path, allow_pickle=False) as archive:
        X, X_test = (_matrix(archive, part) for part in ("fit", "test"))
        if sp.issparse(X):
            X, X_test = (
                rotated(X, X_test) if X.shape[1] > X.shape[0] else (X.toarray(), X_test.toarray())
            )
        return Problem(
            X,
            archive["y"],
            int(archive["n"]),
            X_test,
            archive["y_test"],
            archive["wrong"],
            int(archive["classes"]),
            int(archive["seed"]),
        )


def rotated(X: Any, X_test: Any) -> tuple[Array, Array]:
    """Rows of more columns than there are rows, in n coordinates: with X Xᵀ = U diag(w) Uᵀ they are
    U √w, and the test rows X_test Xᵀ U / √w. The ridge sees inner products alone, and θ lies in the
    span of the rows: every fit on some of the rows gives the same probabilities."""
    w, U = np.linalg.eigh((X @ X.T).toarray())
    real = w > ROUNDING * w[-1]
    root, U = np.sqrt(w[real]), U[:, real]
    return U * root, (X_test @ X.T).toarray() @ U / root


def _matrix(archive: Any, part: str) -> Any:
    if f"{part}_X" in archive:
        return archive[f"{part}_X"]
    data, indices, indptr, shape = (
        archive[f"{part}_{name}"] for name in ("data", "indices", "indptr", "shape")
    )
    return sp.csr_matrix((data, indices, indptr), shape=tuple(shape))


class Fits:
    """Fits on rows of one problem at one C, each started from the one before it: they differ by a
    few rows, and where a fit starts does not decide where it ends."""

    def __init__(self, problem: Problem, C: float) -> None:
        few = problem.X.shape[1] <= FEW_COLUMNS and problem.classes == 2
        solver, tol = ("newton-cholesky", 1e-6) if few else ("newton-cg", 1e-5)
        self.problem, self.C = problem, C
        self.model = LogisticRegression(C=C, solver=solver, tol=tol, max_iter=5000, warm_start=True)

    def fit(self, rows: Array, weight: float = 1.0) -> None:
        """``weight`` is that of each validation row."""
        y = self.problem.y[rows]
        missing = np.setdiff1d(np.arange(self.problem.classes), y)
        if len(missing):
            raise ValueError(f"no row of class {missing[0]} is left to fit on")
        weights = None if weight == 1 else np.where(rows >= self.problem.n, weight, 1.0)
        self.model.fit(self.problem.X[rows], y, sample_weight=weights)

    def scores(self, X: Any) -> Array:
        """z (n, K), of which the probabilities are the softmax."""
        z = X @ self.model.coef_.T + self.model.intercept_
        return np.column_stack([np.zeros(len(z)), z]) if z.shape[1] == 1 else z

    def losses(self, rows: Array) -> Array:
        return losses(self.scores(self.problem.X[rows]), self.problem.y[rows])

    def judged(self, X: Any, y: Array) -> Array:
        """(logloss, error rate, 1 − AUC) of rows; less is better."""
        z = self.scores(X)
        wrong = float((z.argmax(axis=1) != y).mean())
        return np.array([losses(z, y).mean(), wrong, 1 - area(z, y)])


def losses(z: Array, y: Array) -> Array:
    return logsumexp(z, axis=1) - z[np.arange(len(y)), y]


def area(z: Array, y: Array) -> float:
    """AUC, of more than two classes the mean over each against the others."""
    present = np.unique(y)
    if len(present) < 2:
        return 1.0  # no order to get right
    if z.shape[1] == 2:
        return float(roc_auc_score(y, z[:, 1] - z[:, 0]))
    P = softmax(z, axis=1)
    return float(np.mean([roc_auc_score(y == k, P[:, k]) for k in present]))
