"""Influence: what each training row does to the validation loss, from one solve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np

from uids.backends import Array
from uids.datasets.units import Units
from uids.errors import UidsError
from uids.models import Curvature, RowForms, Rows
from uids.scoring.explain import explain
from uids.scoring.leverage import Estimate, LeveragePlan, Task
from uids.scoring.predicted import dropped_rows, newton_change
from uids.scoring.reason import Reason
from uids.scoring.row_steps import row_positions, some_pairs
from uids.scoring.shown import influence_html, influence_line, plot_influence
from uids.solvers import AdoptedSolver, Solution
from uids.system.threads import one_blas_thread
from uids.system.tuning import NORMS, Norms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRUSTED = 1e-2  # identity error or residual beyond which signs and ranks of φ begin to be wrong


@dataclass(frozen=True, repr=False)
class Influence:
    """φ_i = −sᵀ ∇l_i(θ̂) with s = H⁻¹ Σ_j ∇l_j(θ̂) over the validation rows, for each row i.

    φ_i > 0 means that row i harms: dropping it changes the mean validation loss by about
    −φ_i / (n m). Everything else is computed when it is asked for.
    """

    curvature: Curvature
    train: Rows
    validation: Rows
    solver: AdoptedSolver
    solution: Solution
    phi: Array
    probes: int = 256  # random vectors: an error of √(1/512) = 4 % in a norm
    seed: int = 0
    tuning: Norms = NORMS
    labels: Array | None = None  # the original label of each class
    features: Sequence[str] | None = None  # the names of the columns
    units: Units | None = None  # what the values of X are in a person's own

    @cached_property
    def identity_error(self) -> float:
        """|Σφ − ∇penaltyᵀ s| / Σ|φ|.

        At a stationary θ̂ the row gradients sum to minus the gradient of the penalty, whatever s
        is: this tests the fit, as the relative residual tests the solve.
        """
        size = float(np.abs(self.phi).sum())
        error = abs(float(self.phi.sum()) - self.curvature.penalty_product(self.solution.value))
        return error / size if size > 0 else 0.0

    @cached_property
    def gradient_norm(self) -> Array:
        """‖∇l_i‖."""
        return self.curvature.gradient_norms(self.train)

    @cached_property
    def psi_norm(self) -> Array:
        """‖ψ_i‖ = ‖H⁻¹ ∇l_i‖ = √Σ_l (z_lᵀ H⁻¹ ∇l_i)².

        With the unit vectors for z this is exact; with k Gaussian vectors of variance 1/k it is the
        Johnson–Lindenstrauss estimate. Either way no array of n × d comes into being.
        """
        return self._psi.value

    @property
    def psi_error(self) -> float:
        """The relative standard error of ‖ψ_i‖; 0 where it is exact."""
        return self._psi.error

    @cached_property
    def _psi(self) -> Estimate:
        return self.task.norms()

    @property
    def task(self) -> Task:
        return Task(self.curvature, self.train, self.solver, self.probes, self.seed, self.tuning)

    @cached_property
    def _row_forms(self) -> RowForms:
        forms = self.curvature.row_forms()
        if forms is None:
            raise UidsError(
                "leverage, corrected, self_influence and leave-one-out numbers are there for model "
                "logreg, for those on uids.models.LinearLoss, and for networks by their "
                "Gauss–Newton matrix"
            )
        return forms

    @property
    def leverage_plan(self) -> LeveragePlan:
        """How leverage, corrected, self_influence and the leave-one-out numbers will be computed,
        and about how much work that is: known before any is done."""
        return self.task.plan(self._row_forms)

    @property
    def leverage_error(self) -> float:
        """The relative standard error of the forms M_i behind the leverage, self-influence and
        leave-one-out numbers, the root of its mean square over the rows; 0 where they are exact."""
        return self._estimate.error

    @cached_property
    def _estimate(self) -> Estimate:
        return self.task.forms(self._row_forms)

    @property
    def _forms(self) -> Array:
        """M_i = E_iᵀ H⁻¹ E_i, (n, k, k), where ∇l_i = E_i r_i: what the row's own features say."""
        return self._estimate.value

    @cached_property
    def leverage(self) -> Array:
        """h_i = tr(W_i M_i) / n: how much of its own prediction a row decides, in [0, k)."""
        return self._row_forms.leverage(self.train, self._forms)

    @cached_property
    def corrected(self) -> Array:
        """The influence of leaving the row out in one Newton step: φ_i / (1 − h_i) for the binary
        model, −(E_iᵀ s)ᵀ (I − W_i M_i / n)⁻¹ r_i for softmax. Closer to a refit where h_i is not
        small."""
        return self._row_forms.corrected(self.train, self.solution.value, self._forms)

    @cached_property
    def self_influence(self) -> Array:
        """−∇l_iᵀ H⁻¹ ∇l_i ≤ 0: the influence of a row on its own loss. A large size marks rows
        that the model had to learn by heart."""
        return self._row_forms.self_influence(self.train, self._forms)

    @cached_property
    def loo_probability(self) -> Array:
        """The probabilities that the model would give to each row, had it been fitted without that
        row, (n, K): by one Newton step, in closed form."""
        if not self.train.classes:
            raise UidsError("there are no classes, and no probabilities of them: see loo_loss")
        return self._row_forms.loo_probability(self.train, self._forms)

    @cached_property
    def loo_loss(self) -> Array:
        """The loss of each row under the model without it: what its training loss hides."""
        return self._row_forms.loo_loss(self.train, self._forms)

    @overload
    def pairs(self) -> Iterator[tuple[int, Array]]: ...

    @overload
    def pairs(self, rows: Sequence[int] | Array) -> Array: ...

    def pairs(
        self, rows: Sequence[int] | Array | None = None
    ) -> Iterator[tuple[int, Array]] | Array:
        """The influence of single training rows on single validation rows.

        Of some ``rows``, by position or by a mask: an array (rows, m) whose rows sum to φ_i, by one
        solve for each of them. Of all: blocks (j, block) with block[i, l] the influence of training
        row i on validation row j + l, in bounded memory whatever n, m and d are.
        """
        if rows is None:
            return self._all_pairs()
        index = row_positions(rows, len(self.train))
        if len(index) > len(self.validation):  # fewer solves that way
            return np.hstack([block[index] for _, block in self._all_pairs()])
        return some_pairs(self.task, self.validation, index)

    def explain(self, rows: Sequence[int] | Array, kept: Array | None = None) -> list[Reason]:
        """Why each of ``rows`` (positions, or a mask) harms or helps: the features and the
        validation rows that carry φ_i, what the model without it says of its label, and its nearest
        neighbours of another label among the rows ``kept``, by default those that do not harm.

        >>> found.explain(found.phi.argsort()[-3:])
        """
        return explain(self, rows, kept)

    def _all_pairs(self) -> Iterator[tuple[int, Array]]:
        width = self.task.width()
        for first in range(0, len(self.validation), width):
            index = np.arange(first, min(first + width, len(self.validation)))
            G = self.curvature.row_gradients(self.validation.take(index))
            S = self.solver.solve(self.curvature, G).value
            yield first, -self.curvature.row_products(self.train, S)

    def predicted_change(self, kept: Array) -> float:
        """About how much the mean validation loss changes when only ``kept`` rows (a mask, or
        their positions) are trained on: by three Newton steps from θ̂ on those rows, within some
        percent even where half of the rows go. It is the number of first order where no row is
        kept, and for a model that cannot be moved: one of another package, or a network with its
        exact Hessian."""
        dropped = dropped_rows(kept, len(self.train))
        if not dropped.any():
            return 0.0
        change = None
        if not dropped.all() and len(self.train) == self.curvature.rows:
            index = np.flatnonzero(~dropped)
            change = newton_change(self.curvature, self.solver, self.validation, index)
        return self._first_order(dropped) if change is None else change

    def predicted_change_first_order(self, kept: Array) -> float:
        """The same to first order, −Σ φ_i / (n m) over the rows that go: at no cost, and right as
        long as they are few."""
        return self._first_order(dropped_rows(kept, len(self.train)))

    def _first_order(self, dropped: Array) -> float:
        return float(-self.phi[dropped].sum() / (len(self.train) * len(self.validation)))

    def __repr__(self) -> str:
        return influence_line(self)

    def _repr_html_(self) -> str:
        return influence_html(self)

    def plot(self, axes: Axes | None = None) -> Axes:
        """How many rows have which φ, by matplotlib; on ``axes``, or in a figure of its own."""
        return plot_influence(self, axes)


def influence_at(
    curvature: Curvature,
    train: Rows,
    validation: Rows,
    solver: AdoptedSolver,
    probes: int = 256,
    seed: int = 0,
) -> Influence:
    """The influence of the training rows at a fitted model: one solve, and one product with X
    unless the solver has left it."""
    few_threads = not curvature.uses_blas(1)
    with one_blas_thread(few_threads):
        gradient = curvature.gradient(validation)
    solution = solver.solve(curvature, gradient)
    with one_blas_thread(few_threads):
        phi = curvature.row_products(train, solution.value, solution.scores)
    np.negative(phi, out=phi)
    solution = replace(solution, scored=None)  # n numbers that nobody needs any longer
    return Influence(curvature, train, validation, solver, solution, phi, probes, seed)
