"""Logistic regression at its parameters: scores, probabilities and losses of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uids.backends import Array
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.products import losses_of, probabilities_of, product
from uids.models.rows import Rows
from uids.system.display import facts, line


@dataclass(frozen=True, repr=False)
class FittedLogistic:
    """Logistic regression at Θ, of shape (d + b, k) with b = 1 if there is an intercept.

    Binary: k = 1 and p_i = σ(x_iᵀ Θ). K ≥ 3 classes: k = K and p_i = softmax(x_iᵀ Θ).
    The intercepts are the last row of Θ and are not penalised; ``theta`` is Θ row by row.
    """

    theta: Array
    classes: int
    C: float
    intercept: bool

    @property
    def columns(self) -> int:
        return 1 if self.classes == 2 else self.classes

    def scores(self, rows: Rows) -> Array:
        """Z = X Θ, (n, k)."""
        theta = self.theta.reshape(-1, self.columns)
        return product(rows, theta, self.intercept)

    def probabilities(self, rows: Rows) -> Array:
        return probabilities_of(self.scores(rows))

    def losses(self, rows: Rows) -> Array:
        return losses_of(self.scores(rows), rows.y)

    def residuals(self, rows: Rows) -> Array:
        """∂l_i/∂z_i = p_i − e(y_i), (n, k): ∇l_i is the outer product of x_i and this."""
        P = self.probabilities(rows)
        P[np.arange(len(rows)), rows.y] -= 1
        return P[:, 1:] if self.classes == 2 else P

    def facts(self) -> dict[str, object]:
        """What it is, in a few words each."""
        return {
            "classes": self.classes,
            "features": len(self.theta) // self.columns - self.intercept,
            "intercept": self.intercept,
            "C": self.C,
        }

    def __repr__(self) -> str:
        return line("FittedLogistic", self.facts())

    def _repr_html_(self) -> str:
        return facts("logistic regression, fitted", self.facts())

    def curvature(self, rows: Rows, weights: Array | None = None) -> LogisticCurvature:
        return LogisticCurvature(self, rows, weights)
