"""The curvature of a linear model: of one score a row and any loss of it, or softmax."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uids.backends import Array
from uids.models.logistic.advice import advice, has_head
from uids.models.logistic.hessian import LogisticHessian
from uids.models.logistic.products import outer, product, slopes, transposed
from uids.models.model import RowForms
from uids.models.rows import Rows
from uids.solvers import Advice, Dual, Precondition


@dataclass(frozen=True)
class LogisticCurvature(LogisticHessian):
    """H, ways to solve with it, and gradients: of single rows, and of the objective."""

    def advice(self) -> Advice:
        return advice(self.over.X, self.columns, self.tuning)

    def preconditioner(self) -> Precondition | None:
        if not self.advice().preconditioner:
            return None
        if not self.over.X.sparse and self.columns == 1:
            from uids.models.logistic.row_sample import row_sample_preconditioner

            return row_sample_preconditioner(self)
        from uids.models.logistic.head import preconditioner

        X, fitted = self.over.X, self.fitted
        head = not X.sparse or has_head(X, self.tuning)
        return preconditioner(self, head).with_mean(fitted.C, fitted.intercept)

    def dual(self) -> Dual | None:
        if not self.advice().row_space:
            return None
        from uids.models.logistic.dual import LogisticDual, SoftmaxDual

        dual = LogisticDual(self) if self.columns == 1 else SoftmaxDual(self)
        return dual if dual.sound else None

    def gradient(self, rows: Rows) -> Array:
        return transposed(rows, self.fitted.residuals(rows), self.fitted.intercept).ravel()

    def gradient_norms(self, rows: Rows) -> Array:
        # ∇l_i is the outer product of x_i (with its 1, if there is an intercept) and r_i.
        square = rows.X.row_squares() + float(self.fitted.intercept)
        return np.sqrt(square) * np.linalg.norm(self.residuals(rows), axis=1)

    def row_gradients(self, rows: Rows) -> Array:
        return outer(rows, self.residuals(rows), self.fitted.intercept)

    def residuals(self, rows: Rows) -> Array:
        if rows is not self.over:
            return self.fitted.residuals(rows)
        return self.fitted.slopes(self.state, rows.y)  # known already: no further pass over X

    def row_products(self, rows: Rows, S: Array, scores: Array | None = None) -> Array:
        if scores is not None and rows is self.over:
            known = scores.reshape(len(rows), -1)
            return np.asarray(np.einsum("ik,ik->i", self.residuals(rows), known))
        k = self.columns
        U = product(rows, S.reshape(self.size // k, -1), self.fitted.intercept)
        products = np.einsum("ikm,ik->im", U.reshape(len(rows), k, -1), self.residuals(rows))
        return products.reshape(len(rows), *S.shape[1:])

    def penalty_product(self, s: Array) -> float:
        top = slice(self.size - self.fitted.columns * self.fitted.intercept)
        # Not by BLAS, whose threads would go on for a while.
        return float(np.einsum("i,i->", self.fitted.theta[top], s[top]) / self.fitted.C)

    def row_forms(self) -> RowForms:
        from uids.models.logistic.leverage import LogisticForms

        return LogisticForms(self)

    def feature_slopes(self, rows: Rows, s: Array) -> tuple[Array, Array]:
        S = s.reshape(-1, self.fitted.columns)
        return slopes(self.residuals(rows), S, self.fitted.intercept)

    def moved(self, step: Array, index: Array) -> LogisticCurvature:
        fitted = replace(self.fitted, theta=self.fitted.theta + step)
        weights = None if self.weights is None else self.weights[index]
        return LogisticCurvature(fitted, self.over.take(index), weights, tuning=self.tuning)

    def objective_gradient(self) -> Array:
        R = self.residuals(self.over)
        if self.weights is not None:
            R *= self.weights[:, None]
        gradient = transposed(self.over, R, self.fitted.intercept).ravel()
        penalised = self.size - self.fitted.columns * self.fitted.intercept
        gradient[:penalised] += self.fitted.theta[:penalised] / self.fitted.C
        gradient /= self.rows
        return gradient

    def losses(self, rows: Rows) -> Array:
        return self.fitted.losses(rows)
