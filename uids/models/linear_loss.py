"""A base for models that are linear in their features: a loss of one score, in ten lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from uids.backends import Array
from uids.errors import UidsError, require
from uids.models.logistic.newton import minimise
from uids.models.logistic.scored import FittedLinear, Piece
from uids.models.model import C_START, ROUGH, Fitted, checked_C, number_C
from uids.models.rows import Rows
from uids.system.display import facts, line


@dataclass(frozen=True)
class LinearLoss(ABC):
    """Minimises F(θ) = ½‖θ‖² + C Σ_i ω_i l(y_i, z_i), z_i = x_iᵀ θ, the intercept not penalised.

    What a model adds is l, convex in z, and its first and second derivatives there: one number for
    each row, (n,), from y and z, (n,). The fit by Newton's method, H, leverage, leave-one-out and
    all backends come with them. y is 0 or 1, and P(y = 1) wanted by ``probability``; or, where
    ``continuous``, numbers, and what is predicted of a row is ``prediction``.

    ``tol`` bounds the largest coordinate of the gradient of F / (C Σω), in units of what it may be
    at θ = 0: what is predicted may be measured in any unit.
    """

    loss_name: ClassVar[str]  # in tables and files: "squared hinge"
    continuous: ClassVar[bool] = False  # y are numbers, not two classes

    C: int | float | str = C_START
    fit_intercept: bool = True
    tol: float = 1e-9
    max_iter: int = 1000

    def __post_init__(self) -> None:
        object.__setattr__(self, "C", checked_C(self.C))
        require(0 < self.tol < 1, "tol", "in (0, 1)", self.tol)
        require(self.max_iter >= 1, "max_iter", "1 or more", self.max_iter)

    @abstractmethod
    def loss(self, y: Array, z: Array) -> Array:
        """l(y, z)."""

    @abstractmethod
    def slope(self, y: Array, z: Array) -> Array:
        """∂l/∂z."""

    @abstractmethod
    def bend(self, y: Array, z: Array) -> Array:
        """∂²l/∂z², 0 or more."""

    def probability(self, z: Array) -> Array:
        """P(y = 1) of models with classes."""
        raise UidsError(f"{type(self).__name__} has no probabilities")

    def prediction(self, z: Array) -> Array:
        """What is predicted of a row, where y are numbers."""
        return z

    def objection(self, y: Array) -> str:
        """A sentence where y holds what the loss is not for, else nothing."""
        return ""

    def fit(
        self, rows: Rows, weights: Array | None = None, start: Fitted | None = None
    ) -> FittedLoss:
        self._check(rows)
        begin = self.untrained(rows) if start is None else self.restore(start.theta, rows)
        tol = self.tol * self._largest_slope(rows)
        minimum = minimise(begin, rows, weights, tol, self.max_iter)
        # A factor of 1,000, since rounding can keep a hard problem from the last digits of tol.
        if not minimum.largest <= 1000 * tol:
            change = "raise model.max_iter or scale the features"
            if minimum.steps < self.max_iter:
                change = "rounding allows no more; scale the features or lower model.C"
            raise UidsError(
                f"the fit did not converge: the gradient is {minimum.largest:.1e} after "
                f"{minimum.steps} steps, and {tol:.1e} is wanted; {change}"
            )
        return self.restore(minimum.theta, rows)

    def _check(self, rows: Rows) -> None:
        if not self.continuous and rows.classes != 2:
            raise UidsError(f"it knows two classes only, and there are {rows.classes}")
        if not self.continuous and not 0 < rows.y.sum() < len(rows):
            raise UidsError(
                "the rows to fit are all of one class: keep more rows, or use stratify=true"
            )
        objection = self.objection(rows.y)
        if objection:
            raise UidsError(objection)

    def _largest_slope(self, rows: Rows) -> float:
        """An upper bound of the coordinates of the gradient of the mean loss at θ = 0, by Cauchy
        and Schwarz: √(mean x_k²) √(mean l′²). Unlike the gradient it is not small by chance."""
        n = len(rows)
        squares = rows.X.square_tdot(np.ones(n)) / n
        slopes = self.slope(rows.y, np.zeros(n))
        widest = max(float(squares.max(initial=0)), float(self.fit_intercept))
        return float(np.sqrt(widest * (slopes @ slopes) / n)) or 1.0

    def untrained(self, rows: Rows) -> FittedLoss:
        return self.restore(np.zeros(rows.X.shape[1] + self.fit_intercept), rows)

    def rough(self) -> LinearLoss:
        return replace(self, tol=max(self.tol, ROUGH))

    def restore(self, theta: Array, rows: Rows) -> FittedLoss:
        return FittedLoss(theta, rows.classes, number_C(self.C), self.fit_intercept, self)


@dataclass(frozen=True, repr=False)
class FittedLoss(FittedLinear):
    """Such a model at θ. The state of a row is its score."""

    model: LinearLoss

    def state(self, rows: Rows) -> Array:
        return self.scores(rows)

    def slopes(self, state: Array, y: Array, out: Array | None = None) -> Array:
        if out is None:
            out = np.empty(state.shape)
        out[:, 0] = self.model.slope(y, state[:, 0])
        return out

    def bends(self, state: Array, y: Array) -> Array:
        return np.array(self.model.bend(y, state[:, 0]), dtype=np.float64)[:, None]

    def losses_at(self, Z: Array, y: Array) -> Array:
        return np.asarray(self.model.loss(y, Z[:, 0]))

    def probabilities_at(self, Z: Array) -> Array:
        p = self.model.probability(Z[:, 0])
        return np.stack([1 - p, p], axis=1)

    def predictions(self, rows: Rows) -> Array:
        """What is predicted of each row, (n,), where y are numbers."""
        return np.asarray(self.model.prediction(self.scores(rows)[:, 0]))

    @property
    def piece(self) -> Piece:
        return self._along

    def _along(
        self, z: Array, u: Array | None, t: float, y: Array, weight: Array | None, state: Array
    ) -> tuple[float, float]:
        state[:] = z if u is None else z + t * u
        there = state[:, 0]
        losses = self.model.loss(y, there)
        loss = float(losses.sum() if weight is None else weight @ losses)
        if u is None:
            return loss, 0.0
        rates = self.model.slope(y, there) * u[:, 0]
        return loss, float(rates.sum() if weight is None else weight @ rates)

    def at_zero(self, y: Array, weights: Array | None) -> float:
        losses = self.model.loss(y, np.zeros(len(y)))
        return float(losses.sum() if weights is None else weights @ losses)

    def facts(self) -> dict[str, object]:
        """What it is, in a few words each."""
        return {
            "loss": self.model.loss_name,
            "features": len(self.theta) - self.intercept,
            "intercept": self.intercept,
            "C": self.C,
        }

    def __repr__(self) -> str:
        return line("FittedLoss", self.facts())

    def _repr_html_(self) -> str:
        return facts(f"{type(self.model).__name__}, fitted", self.facts())
