"""A point of the trainer: parameters, and what is known there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uids.backends import Array
from uids.errors import UidsError
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.line_search import Along, search
from uids.models.logistic.losses import losses
from uids.models.logistic.products import add, centred, peak, transposed
from uids.models.logistic.scored import FittedLinear
from uids.models.rows import Rows
from uids.system.tuning import Newton

TOO_LARGE = "the objective is not finite: look for huge values in X, or scale the features"


class Point:
    """θ and what is known there: scores Z and states P, (n, k); objective, gradient."""

    def __init__(
        self,
        start: FittedLinear,
        rows: Rows,
        weights: Array | None,
        tuning: Newton,
    ) -> None:
        self.start, self.rows, self.weights, self.tuning = start, rows, weights, tuning
        self.theta = np.array(start.theta, dtype=np.float64)
        self.penalised = len(self.theta) - start.columns * start.intercept
        if start.columns > 1:  # no probability changes, and the penalty falls
            centred(self.theta[: self.penalised], start.columns)
        self.P = np.empty((len(rows), start.columns))
        known = self.theta.any()
        self.Z = start.scores(rows) if known else np.zeros(self.P.shape)
        self.value = self._along(None, None)(0.0)[0]
        if known and not self.value <= start.at_zero(rows.y, weights) / len(rows):
            # A start that is worse than 0 may be so far out that all P are 0 or 1, and H singular.
            self.theta[:] = 0
            self.Z[:] = 0
            self.value = self._along(None, None)(0.0)[0]
        self._differentiate(np.empty(self.P.shape))

    def curvature(self) -> LogisticCurvature:
        return LogisticCurvature(
            replace(self.start, theta=self.theta), self.rows, self.weights, self.P
        )

    def _along(self, s: Array | None, U: Array | None) -> Along:
        """The objective on θ + t s, whose scores are Z + t U. Leaves P as it is there."""
        scale, top = self.start.C * len(self.rows), self.theta[: self.penalised]
        square, cross, square_s = float(top @ top), 0.0, 0.0
        if s is not None:
            step = s[: self.penalised]
            cross, square_s = float(top @ step), float(step @ step)

        def objective(t: float) -> tuple[float, float]:
            rows = self.rows
            threads, chunk = rows.X.threads, self.tuning.chunk
            piece = self.start.piece
            loss, slope = losses(self.Z, U, t, rows.y, self.weights, self.P, threads, chunk, piece)
            value = loss / len(self.rows) + (square + t * (2 * cross + t * square_s)) / (2 * scale)
            return value, slope / len(self.rows) + (cross + t * square_s) / scale

        return objective

    def _differentiate(self, R: Array) -> None:
        """The gradient, from P; R (n, k) is overwritten."""
        self.start.slopes(self.P, self.rows.y, out=R)
        if self.weights is not None:
            R *= self.weights[:, None]
        self.gradient = transposed(self.rows, R, self.start.intercept).ravel()
        add(self.theta[: self.penalised], self.gradient[: self.penalised], 1 / self.start.C)
        self.gradient /= len(self.rows)
        self.largest = peak(self.gradient)
        if not np.isfinite(self.value + self.largest):
            raise UidsError(TOO_LARGE)

    def move(self, s: Array, U: Array | None) -> bool:
        """To the best point that the search finds along s, whose scores are U where they are known;
        False where rounding hides the way."""
        if self.start.columns > 1:
            centred(s, self.start.columns)
        slope = float(self.gradient @ s)
        if U is None:
            U = replace(self.start, theta=s).scores(self.rows)
        step = search(self._along(s, U), self.value, slope)
        if step is None:
            self._along(None, None)(0.0)  # P as it was
            return False
        t, self.value = step
        add(s, self.theta, t)
        U *= t
        self.Z += U
        self._differentiate(U)
        return True
