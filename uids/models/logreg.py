"""L2 logistic regression, fitted by Newton's method or by scikit-learn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from uids.backends import Array
from uids.errors import UidsError, require
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logistic.newton import minimise
from uids.models.logistic.products import transposed
from uids.models.model import C_START, ROUGH, Fitted, checked_C, number_C
from uids.models.rows import Rows

SKLEARN = ("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "sag", "saga")


@dataclass(frozen=True)
class LogisticRegression:
    """Minimises F(θ) = ½‖θ‖² + C Σ_i ω_i l_i(θ), the intercept not penalised.

    Two classes give the binary model, more give softmax. ``tol`` bounds the largest coordinate
    of the gradient of F / (C Σω): influence is only as right as θ̂ is stationary. ``fit_solver`` is
    ``newton``, which works on the backend's products, or the name of a solver of scikit-learn's.
    ``C`` may be left to cross-fitting, ``auto``; see ``uids/selection/choose.py``.
    """

    C: int | float | str = C_START
    fit_intercept: bool = True
    tol: float = 1e-9
    max_iter: int = 1000
    fit_solver: str = "newton"

    def __post_init__(self) -> None:
        object.__setattr__(self, "C", checked_C(self.C))
        require(0 < self.tol < 1, "tol", "in (0, 1)", self.tol)
        require(self.max_iter >= 1, "max_iter", "1 or more", self.max_iter)
        known = ("newton", *SKLEARN)
        require(self.fit_solver in known, "fit_solver", f"one of {known}", self.fit_solver)
        require(
            self.fit_solver != "liblinear" or not self.fit_intercept,
            "fit_solver",
            "another than liblinear, which would penalise the intercept, or fit_intercept false",
            self.fit_solver,
        )

    def fit(
        self, rows: Rows, weights: Array | None = None, start: Fitted | None = None
    ) -> FittedLogistic:
        absent = np.flatnonzero(np.bincount(rows.y, minlength=rows.classes) == 0)
        if len(absent):
            raise UidsError(
                f"the rows to fit have no row of class number {absent[0]} (from 0, in sorted "
                "order): keep more rows, or use stratify=true"
            )
        if self.fit_solver != "newton":
            fitted = self.restore(self._scikit_learn(rows, weights, start), rows)
            self._check_stationary(self._largest(fitted, rows, weights))
            return fitted
        begin = self.untrained(rows) if start is None else self.restore(start.theta, rows)
        minimum = minimise(begin, rows, weights, self.tol, self.max_iter)
        self._check_stationary(minimum.largest, minimum.steps)
        return self.restore(minimum.theta, rows)

    def untrained(self, rows: Rows) -> FittedLogistic:
        columns = 1 if rows.classes == 2 else rows.classes
        return self.restore(np.zeros(columns * (rows.X.shape[1] + self.fit_intercept)), rows)

    def rough(self) -> LogisticRegression:
        return replace(self, tol=max(self.tol, ROUGH))

    def restore(self, theta: Array, rows: Rows) -> FittedLogistic:
        return FittedLogistic(theta, rows.classes, number_C(self.C), self.fit_intercept)

    def _scikit_learn(self, rows: Rows, weights: Array | None, start: Fitted | None) -> Array:
        from sklearn.linear_model import LogisticRegression as Estimator

        if self.fit_solver == "liblinear" and rows.classes > 2:
            raise UidsError(
                f"model.fit_solver=liblinear knows two classes only, and there are {rows.classes}: "
                "use model.fit_solver=newton"
            )
        estimator = Estimator(
            C=number_C(self.C),
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
            solver=self.fit_solver,
            warm_start=start is not None,
            random_state=0,  # sag, saga and liblinear shuffle
        )
        if start is not None:
            theta = start.theta.reshape(-1, 1 if rows.classes == 2 else rows.classes).T
            estimator.coef_ = theta[:, : rows.X.shape[1]].copy()
            intercepts = theta[:, -1].copy() if self.fit_intercept else np.zeros(len(theta))
            estimator.intercept_ = intercepts
            estimator.classes_ = np.arange(rows.classes)
        with warnings.catch_warnings():
            # Its warnings say that a line search stopped; the gradient says whether it matters.
            warnings.simplefilter("ignore")
            estimator.fit(rows.X.fetch(), rows.y, sample_weight=weights)
        columns: Array = estimator.coef_.T
        if self.fit_intercept:
            columns = np.vstack([columns, estimator.intercept_])
        return np.ascontiguousarray(columns, dtype=np.float64).ravel()

    def _largest(self, fitted: FittedLogistic, rows: Rows, weights: Array | None) -> float:
        """The largest coordinate of the gradient of F / (C Σω)."""
        residuals = fitted.residuals(rows)
        if weights is not None:
            residuals *= weights[:, None]
        gradient = transposed(rows, residuals, self.fit_intercept)
        d = rows.X.shape[1]
        gradient[:d] += fitted.theta.reshape(-1, fitted.columns)[:d] / fitted.C
        total = len(rows) if weights is None else float(weights.sum())
        return float(np.abs(gradient).max(initial=0)) / total

    def _check_stationary(self, largest: float, steps: int | None = None) -> None:
        # A factor of 1,000, since rounding can keep a hard problem from the last digits of tol.
        if largest <= 1000 * self.tol:
            return
        change = "raise model.max_iter or scale the features"
        if steps is not None and steps < self.max_iter:
            change = "rounding allows no more; scale the features or lower model.C"
        done = f"at most {self.max_iter} iterations" if steps is None else f"{steps} steps"
        raise UidsError(
            f"model 'logreg' did not converge: the gradient is {largest:.1e} after {done}; {change}"
        )
