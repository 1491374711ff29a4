"""Logistic regression at its parameters: scores, probabilities and losses of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from uids.backends import Array
from uids.models.logistic.losses import piece_losses
from uids.models.logistic.products import losses_of, probabilities_of
from uids.models.logistic.scored import FittedLinear, Piece
from uids.models.rows import Rows
from uids.system.display import facts, line


@dataclass(frozen=True, repr=False)
class FittedLogistic(FittedLinear):
    """Logistic regression at Θ.

    Binary: k = 1 and p_i = σ(x_iᵀ Θ). K ≥ 3 classes: k = K and p_i = softmax(x_iᵀ Θ). The state of
    a row is p_i, its slope p_i − e(y_i).
    """

    @property
    def columns(self) -> int:
        return 1 if self.classes == 2 else self.classes

    def state(self, rows: Rows) -> Array:
        Z = self.scores(rows)
        return np.asarray(expit(Z, out=Z)) if self.columns == 1 else probabilities_of(Z)

    def slopes(self, state: Array, y: Array, out: Array | None = None) -> Array:
        if out is None:
            out = state.copy()
        else:
            out[:] = state
        if out.shape[1] == 1:
            out[:, 0] -= y
        else:
            out[np.arange(len(out)), y] -= 1
        return out

    def bends(self, state: Array, y: Array) -> Array:
        W = 1 - state
        W *= state
        return W

    def row_bends(self, rows: Rows) -> Array:
        P = self.probabilities(rows)
        if self.columns > 1:
            return self.bends(P, rows.y)
        return (P[:, 0] * P[:, 1])[:, None]  # 1 − p has no digits left where a row is certain

    def losses_at(self, Z: Array, y: Array) -> Array:
        return losses_of(Z, y)

    def probabilities_at(self, Z: Array) -> Array:
        return probabilities_of(Z)

    @property
    def piece(self) -> Piece:
        return piece_losses

    def at_zero(self, y: Array, weights: Array | None) -> float:
        total = len(y) if weights is None else float(weights.sum())
        return float(np.log(self.classes)) * total

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
