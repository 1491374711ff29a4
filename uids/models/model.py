"""What a model, its fit and its curvature are to the rest of uids."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from uids.backends import Array
from uids.models.rows import Rows
from uids.solvers import Operator

# Largest gradient of a fit that is only judged: the error of a loss is of second order in it.
ROUGH = 1e-6


class RowForms(ABC):
    """What a row's own features say, M_i = E_iᵀ H⁻¹ E_i where ∇l_i = E_i r_i: leverage, the
    influence of leaving one row out, and self-influence. Forms are (n, k, k)."""

    @abstractmethod
    def exact(self, rows: Rows, inverse: Array) -> Array:
        """M_i from H⁻¹ itself, (size, size)."""

    @abstractmethod
    def noise(self, count: int, rng: np.random.Generator) -> Array:
        """Gaussian vectors with covariance H, (size, count)."""

    @abstractmethod
    def estimate(self, rows: Rows, S: Array) -> Array:
        """M_i as a mean over vectors S with covariance H⁻¹, (size, count)."""

    @abstractmethod
    def leverage(self, rows: Rows, forms: Array) -> Array:
        """h_i = tr(W_i M_i) / n, (n,)."""

    @abstractmethod
    def corrected(self, rows: Rows, s: Array, forms: Array) -> Array:
        """−(E_iᵀ s)ᵀ (I − W_i M_i / n)⁻¹ r_i, (n,)."""

    @abstractmethod
    def self_influence(self, rows: Rows, forms: Array) -> Array:
        """−r_iᵀ M_i r_i, (n,)."""

    @abstractmethod
    def loo_probability(self, rows: Rows, forms: Array) -> Array:
        """Of each row under the model without it, by one Newton step, (n, K)."""

    @abstractmethod
    def loo_loss(self, rows: Rows, forms: Array) -> Array:
        """The loss there, (n,)."""


class Curvature(Operator):
    """The training objective near θ̂, in mean form: H = (1/n) (Σ_i ω_i ∇²l_i + ∇²penalty), and the
    gradients of single rows. Vectors are flat, of length ``size``."""

    @abstractmethod
    def gradient(self, rows: Rows) -> Array:
        """Σ_j ∇l_j(θ̂), no penalty."""

    @abstractmethod
    def gradient_norms(self, rows: Rows) -> Array:
        """‖∇l_i(θ̂)‖ for each row i."""

    @abstractmethod
    def row_gradients(self, rows: Rows) -> Array:
        """∇l_j(θ̂) as columns, (size, rows)."""

    @abstractmethod
    def row_products(self, rows: Rows, S: Array, scores: Array | None = None) -> Array:
        """∇l_i(θ̂)ᵀ S for each row i. ``scores`` are what ``scored_dot`` gave for S, of use where
        the rows are those that the curvature is over."""

    @abstractmethod
    def penalty_product(self, s: Array) -> float:
        """∇penalty(θ̂)ᵀ s, = Σ_i φ_i at an optimum."""

    @property
    def columns(self) -> int:
        """Scores that a row has: products with m vectors take that many times m numbers a row."""
        return 1

    def row_forms(self) -> RowForms | None:
        return None


class Fitted(Protocol):
    """A model with its parameters."""

    @property
    def theta(self) -> Array: ...

    def probabilities(self, rows: Rows) -> Array:
        """(n, K)"""
        ...

    def losses(self, rows: Rows) -> Array:
        """(n,)"""
        ...

    def curvature(self, rows: Rows, weights: Array | None = None) -> Curvature: ...


class Model(Protocol):
    """Three more methods are used where a model has them. ``restore(theta, rows)`` rebuilds a fit
    from its parameters, so that it can be kept in the cache. ``rough()`` is the same model with
    fits that are good enough to be judged by their losses, but not for influence.
    ``untrained(rows)`` is a fit before training, from which a run can be planned."""

    def fit(
        self, rows: Rows, weights: Array | None = None, start: Fitted | None = None
    ) -> Fitted: ...
