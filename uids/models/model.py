"""What a model, its fit and its curvature are to the rest of uids."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from uids.backends import Array
from uids.errors import require
from uids.models.rows import Rows
from uids.solvers import Operator
from uids.system.keys import AUTO

# What a model's loss is called where it says nothing: −log p of a row's own class.
LOGLOSS = "logloss"

# The C of the paper, at which a walk over C starts.
C_START = 0.1

# Largest gradient of a fit that is only judged: the error of a loss is of second order in it.
ROUGH = 1e-6
# The same of fits that only tell which labels are unlikely: on covtype, news20 and criteo1% their
# probabilities are within 2e-3 of those of a fit to 1e-9, for a third of the time.
GLANCE = 1e-5


def checked_C(C: float | str) -> float | str:
    """A positive number, or the word that leaves it to cross-fitting; 1 and 1.0 are one value."""
    if not isinstance(C, str):
        C = float(C)
    right = C == AUTO if isinstance(C, str) else 0 < C < np.inf
    require(right, "C", "positive or 'auto'", C)
    return C


def number_C(C: float | str) -> float:
    """C as a number; that of the start where it is yet to be chosen."""
    return C_START if isinstance(C, str) else float(C)


class RowForms(ABC):
    """What a row's own features say, M_i = E_iᵀ H⁻¹ E_i where ∇l_i = E_i r_i: leverage, the
    influence of leaving one row out, and self-influence. Forms are (n, k, k).

    ``linear`` is false where the scores are not linear in the parameters, as those of a network."""

    @property
    def linear(self) -> bool:
        return True

    @abstractmethod
    def exact(self, rows: Rows, inverse: Array) -> Array:
        """M_i from H⁻¹ itself, (size, size)."""

    @abstractmethod
    def exact_work(self, rows: Rows) -> float:
        """About how many multiply-adds it is to put H together and then all M_i from H⁻¹."""

    def in_rows(self, rows: Rows) -> Array | None:
        """M_i in the space of the rows, without an array of size²; None where there is no such."""
        return None

    def in_rows_work(self, rows: Rows) -> tuple[float, int] | None:
        """About how many multiply-adds, and bytes, that takes; None where it cannot be had."""
        return None

    @abstractmethod
    def noise(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Gaussian vectors B with covariance H, (size, count), and the S₀ that go with them: those
        that H⁻¹ B would be if the rows said nothing, of covariance (∇²penalty/n)⁻¹ on the
        parameters that have a penalty, and 0 on the others."""

    @abstractmethod
    def free(self) -> Array | None:
        """F, the unit vectors of the k parameters without a penalty, (size, k), if there are."""

    @abstractmethod
    def known(self, rows: Rows, solved: Array | None) -> Array:
        """The mean of (E_iᵀ(s₀ − s))(E_iᵀ(s₀ − s))ᵀ over the noise, with M_i added to it, which is
        known; ``solved`` is H⁻¹ F. (n, k, k)"""

    @abstractmethod
    def inner(self, rows: Rows) -> Array:
        """W_i, (n, k, k)."""

    @abstractmethod
    def scores(self, rows: Rows, S: Array) -> Array:
        """E_iᵀ S, (n, k, count)."""

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
    def product_work(self) -> float:
        """Multiply-adds of one product with H, about."""
        return 2.0 * self.rows * self.size

    @property
    def columns(self) -> int:
        """Scores that a row has: products with m vectors take that many times m numbers a row."""
        return 1

    @property
    def exact(self) -> bool:
        """Whether H is the Hessian itself: not where it is damped, or left without some terms."""
        return True

    def row_forms(self) -> RowForms | None:
        return None

    @property
    def linear(self) -> bool:
        """Whether there are forms of rows, and they are those of scores linear in θ: then what they
        say of a row that is left out is good enough for a run to go by."""
        forms = self.row_forms()
        return forms is not None and forms.linear

    def feature_slopes(self, rows: Rows, s: Array) -> tuple[Array, Array] | None:
        """(A, b), of (rows, d) and (rows,), with ∇l_i(θ̂)ᵀ s = x_iᵀ A_i + b_i: what each feature of
        a row says of the product, and the intercepts. Dense, and so for few rows; None where the
        model is not linear in its features."""
        return None

    def moved(self, step: Array, index: Array) -> Objective | None:
        """The same at θ̂ + step, over those of its rows alone, with the penalty as it is; None where
        the model cannot tell, or where H need not be positive definite there."""
        return None


class Objective(Curvature):
    """A curvature that knows the objective itself, R(θ) = (1/n) (Σ_i ω_i l_i(θ) + penalty(θ)), at
    parameters that need not be an optimum."""

    @abstractmethod
    def objective_gradient(self) -> Array:
        """∇R, (size,)."""

    @abstractmethod
    def losses(self, rows: Rows) -> Array:
        """l_i, (n,)."""


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
    """``loss_name`` is what ``losses`` of its fits are called in tables and files: "logloss", which
    is −log p of a row's own class, where a model says nothing. ``continuous`` is true of models of
    numbers: then y are floats, K is 0, and in place of ``probabilities`` a fit has
    ``predictions(rows)``, (n,). Both may be class attributes.

    A field ``C`` that takes the word "auto" (``C: float | str``) can be chosen by cross-fitting,
    and a field ``tol``, the largest coordinate of the gradient of the mean loss at which a fit
    ends, is raised for the audit of labels.
    Four more methods are used where a model has them. ``restore(theta, rows)`` rebuilds a fit
    from its parameters, so that it can be kept in the cache. ``rough()`` is the same model with
    fits that are good enough to be judged by their losses, but not for influence.
    ``untrained(rows)`` is a fit before training, from which a run can be planned.
    ``trained(rows, labels)`` is the fit that a model was handed in with, if it was: influence is
    then taken there, without another."""

    def fit(
        self, rows: Rows, weights: Array | None = None, start: Fitted | None = None
    ) -> Fitted: ...
