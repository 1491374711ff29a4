"""A linear model at its parameters: what trainer, curvature and leverage ask of its loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from uids.backends import Array
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.products import product
from uids.models.rows import Rows

# (z, u, t, y, weight, state) of some rows ↦ Σ ω l and Σ ω l′u at z + t u, whose state is written to
# ``state``; without u the second is 0.
Piece = Callable[[Array, "Array | None", float, Array, "Array | None", Array], tuple[float, float]]


@dataclass(frozen=True, repr=False)
class FittedLinear(ABC):
    """Θ, of shape (d + b, k) with b = 1 if there is an intercept, and a loss l_i of the scores
    z_i = x_iᵀ Θ. The intercepts are the last row of Θ and are not penalised; ``theta`` is Θ row by
    row. ``classes`` is 0 where y holds numbers.

    The *state* of a row, (k,), is whatever slope and curvature of its loss are quickly made from:
    probabilities, or the scores themselves. More than one column is softmax, whose state are the
    probabilities.
    """

    theta: Array
    classes: int
    C: float
    intercept: bool

    @property
    def columns(self) -> int:
        return 1

    def scores(self, rows: Rows) -> Array:
        """Z = X Θ, (n, k)."""
        theta = self.theta.reshape(-1, self.columns)
        return product(rows, theta, self.intercept)

    @abstractmethod
    def state(self, rows: Rows) -> Array:
        """(n, k)"""

    @abstractmethod
    def slopes(self, state: Array, y: Array, out: Array | None = None) -> Array:
        """∂l_i/∂z_i, (n, k), into ``out`` where it is given: ∇l_i is the outer product of x_i and
        this."""

    @abstractmethod
    def bends(self, state: Array, y: Array) -> Array:
        """∂²l_i/∂z_ik², (n, k), in an array that may be changed."""

    def row_bends(self, rows: Rows) -> Array:
        """The same of any rows."""
        return self.bends(self.state(rows), rows.y)

    @abstractmethod
    def losses_at(self, Z: Array, y: Array) -> Array:
        """l_i from scores, (n,)."""

    @abstractmethod
    def probabilities_at(self, Z: Array) -> Array:
        """(n, K) from scores; an error where there are no classes."""

    @property
    @abstractmethod
    def piece(self) -> Piece:
        """The objective of some rows along a direction, for the search there."""

    @abstractmethod
    def at_zero(self, y: Array, weights: Array | None) -> float:
        """Σ ω_i l_i at scores of 0."""

    def probabilities(self, rows: Rows) -> Array:
        return self.probabilities_at(self.scores(rows))

    def losses(self, rows: Rows) -> Array:
        return self.losses_at(self.scores(rows), rows.y)

    def residuals(self, rows: Rows) -> Array:
        """∂l_i/∂z_i, (n, k)."""
        return self.slopes(self.state(rows), rows.y)

    def curvature(self, rows: Rows, weights: Array | None = None) -> LogisticCurvature:
        return LogisticCurvature(self, rows, weights)
