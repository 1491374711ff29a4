"""L2 logistic regression, fitted by scikit-learn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from uids.backends import Array
from uids.errors import UidsError, require
from uids.models import Rows
from uids.models.logistic import FittedLogistic, transposed

CHOLESKY_LIMIT = 1000  # parameters up to which factorising H at each step is the quickest way


@dataclass(frozen=True)
class LogisticRegression:
    """Minimises F(θ) = ½‖θ‖² + C Σ_i ω_i l_i(θ), the intercept not penalised.

    Two classes give the binary model, more give softmax. ``tol`` bounds the largest coordinate
    of the gradient of F / (C Σω): influence is only as right as θ̂ is stationary.
    """

    C: float = 0.1
    fit_intercept: bool = True
    tol: float = 1e-9
    max_iter: int = 1000

    def __post_init__(self) -> None:
        require(0 < self.C < np.inf, "C", "positive", self.C)
        require(0 < self.tol < 1, "tol", "in (0, 1)", self.tol)
        require(self.max_iter >= 1, "max_iter", "1 or more", self.max_iter)

    def fit(
        self, rows: Rows, weights: Array | None = None, start: Any | None = None
    ) -> FittedLogistic:
        from sklearn.linear_model import LogisticRegression as Estimator

        present = np.unique(rows.y)
        if len(present) < rows.classes:
            absent = sorted(set(range(rows.classes)) - set(present.tolist()))
            raise UidsError(
                f"the rows to fit have no row of class number {absent[0]} (from 0, in sorted "
                "order): keep more rows, or use stratify=true"
            )
        columns = 1 if rows.classes == 2 else rows.classes
        size = columns * (rows.X.shape[1] + self.fit_intercept)
        estimator = Estimator(
            C=self.C,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
            solver="newton-cholesky" if size <= CHOLESKY_LIMIT else "newton-cg",
            warm_start=start is not None,
        )
        if start is not None:
            theta = start.theta.reshape(-1, columns).T
            estimator.coef_ = theta[:, : rows.X.shape[1]].copy()
            estimator.intercept_ = theta[:, -1].copy() if self.fit_intercept else np.zeros(columns)
            estimator.classes_ = present
        with warnings.catch_warnings():
            # Its warnings say that a line search stopped; the gradient below says whether it
            # matters.
            warnings.simplefilter("ignore")
            estimator.fit(rows.X.X, rows.y, sample_weight=weights)
        theta = estimator.coef_.T
        if self.fit_intercept:
            theta = np.vstack([theta, estimator.intercept_])
        fitted = self.restore(np.ascontiguousarray(theta, dtype=np.float64).ravel(), rows)
        self._check_stationary(fitted, rows, weights)
        return fitted

    def restore(self, theta: Array, rows: Rows) -> FittedLogistic:
        return FittedLogistic(theta, rows.classes, self.C, self.fit_intercept)

    def _check_stationary(self, fitted: FittedLogistic, rows: Rows, weights: Array | None) -> None:
        residuals = fitted.residuals(rows)
        if weights is not None:
            residuals *= weights[:, None]
        gradient = transposed(rows, residuals, self.fit_intercept)
        d = rows.X.shape[1]
        gradient[:d] += fitted.theta.reshape(-1, fitted.columns)[:d] / self.C
        total = len(rows) if weights is None else float(weights.sum())
        largest = float(np.abs(gradient).max(initial=0)) / total
        # A factor of 1,000, since rounding can keep a hard problem from the last digits of tol.
        if not largest <= 1000 * self.tol:
            raise UidsError(
                f"model 'logreg' did not converge: the gradient is {largest:.1e} after at most "
                f"{self.max_iter} iterations; raise model.max_iter or scale the features"
            )
