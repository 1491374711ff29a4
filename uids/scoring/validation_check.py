"""Are the validation rows any cleaner than the training rows?

Influence trusts the validation rows: a training row harms where it disagrees with them. Where they
are as wrong as the training rows, dropping by φ can be worse than dropping at random. So the losses
of both are compared, each under a model that has not seen the row: the validation losses at θ̂, and
the leave-one-out losses of the training rows. If the latter are larger beyond chance (one-sided, by
shuffling, since losses are skewed; of a thousand validation rows or more by Welch's t test), the
validation rows are cleaner, or easier.

A row that is left out leaves its class with fewer rows than it has elsewhere, which counts against
it: where little can be learnt, by more than the losses differ otherwise. So the other rows of its
class weigh as much more.

With more parameters than rows a small C lets a model learn next to nothing in which wrong labels
could show; then larger ones are tried, and the leave-one-out losses say which. And rows that a
model can tell from the training rows are harder for θ̂ whatever their labels are: each kind is then
judged by a model of its own (``uids/scoring/own_kind.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uids.backends import Array
from uids.errors import ComponentError, UidsError
from uids.models import AdoptedFitted, AdoptedModel
from uids.scoring.influence import Influence
from uids.scoring.own_kind import of_another_kind, own_losses, spread
from uids.system.statistics import p_larger, p_larger_shuffled
from uids.system.tuning import NORMS, Norms

LEVEL = 0.05  # share of equally clean data on which "cleaner" is said wrongly
# Validation rows, below which the test is by shuffling. Welch's says "cleaner" too often of skewed
# losses: of 30 equally clean rows on 29 of 200 draws, of 114 to 800 on 6 of 60 (by shuffling 2).
FEW = 1000
LARGER_C = (10.0, 100.0)  # times the model's own, with more parameters than rows


@dataclass(frozen=True)
class ValidationCheck:
    """``cleaner`` is None where it was not tested; ``another_kind`` where a model tells the rows
    apart."""

    cleaner: bool | None
    p_value: float | None
    sentence: str
    another_kind: bool = False

    @property
    def alike(self) -> bool:
        """Whether neither the rows nor their losses can be told apart."""
        same = self.p_value is not None and LEVEL <= self.p_value <= 1 - LEVEL
        return same and not self.another_kind


def check_validation(
    model: AdoptedModel, full: AdoptedFitted, influence: Influence, tuning: Norms = NORMS
) -> ValidationCheck:
    """Tested where leverages cost no more than a fit, or than a second or so."""
    curvature = influence.curvature
    if not curvature.linear:
        return untested("this model has no leave-one-out losses")
    train, n = influence.train, len(influence.train)
    if n > tuning.check_rows:
        train = train.take(spread(n, tuning.check_rows))
    influence = replace(influence, tuning=tuning, train=train)
    plan = influence.leverage_plan
    if plan.work > max(tuning.check_work, tuning.check_products * curvature.product_work):
        return untested(f"leave-one-out losses take too long; {plan.sentence}")
    if len(influence.validation) < 2:
        return untested("there is only one validation row")
    try:
        if of_another_kind(influence):
            return compared_apart(model, influence)
        return compared_together(model, full, influence)
    except ComponentError:
        raise
    except UidsError as error:
        return untested(str(error))


def compared_together(
    model: AdoptedModel, full: AdoptedFitted, influence: Influence
) -> ValidationCheck:
    """Both under the models of the training rows."""
    held_out, judge, where = left_out(influence), full, ""
    C, train = model.C, influence.train
    if isinstance(C, int | float) and influence.curvature.size > len(train):
        for factor in LARGER_C:
            looser = model.at_C(factor * C).rough().fit(train, start=judge)
            more = left_out(replace(influence, curvature=looser.curvature(train)))
            if more.mean() >= held_out.mean():
                break
            held_out, judge, where = more, looser, f" at C = {factor * C:g}"
    return compared(held_out, judge.losses(influence.validation), f" left out{where}")


def compared_apart(model: AdoptedModel, influence: Influence) -> ValidationCheck:
    """Each under models of as many rows of its own kind."""
    losses = own_losses(model, influence, left_out)
    check = compared(*losses, ", each by a model of its own kind")
    return replace(check, another_kind=True)


def left_out(influence: Influence) -> Array:
    """The loss of each training row under the model without it, had its class kept its weight."""
    return influence.loo_loss + share_effect(influence)


def share_effect(influence: Influence) -> Array:
    """What it changes in a row's loss that the n_k − 1 others of its class weigh as if they were
    n_k, to first order: −g_iᵀ H⁻¹ (Σ_j g_j) / (n (n_k − 1)) over them, (n,). Of many rows one more
    or less is nothing."""
    train, n = influence.train, len(influence.train)
    if not train.classes or n > influence.tuning.check_shares:
        return np.zeros(n)
    counts = np.bincount(train.y, minlength=train.classes)
    rows = [train.take(np.flatnonzero(train.y == k)) for k in range(train.classes)]
    curvature = influence.curvature
    G = np.column_stack([curvature.gradient(own) for own in rows])
    S = influence.solver.solve(curvature, G).value
    products = curvature.row_products(train, S)[np.arange(n), train.y]
    others = products + influence.self_influence
    return -others / (n * np.maximum(1, counts[train.y] - 1))


def untested(reason: str) -> ValidationCheck:
    return ValidationCheck(
        None, None, f"Whether the validation rows are cleaner was not tested: {reason}."
    )


def mean_text(loss: float) -> str:
    """Losses that are no logloss may be of any size."""
    return f"{loss:.4f}" if loss < 1000 else f"{loss:.5g}"


def compared(train: Array, validation: Array, how: str = " left out") -> ValidationCheck:
    """From the losses of both, each under a model that has not seen the row."""
    p = (p_larger if len(validation) >= FEW else p_larger_shuffled)(train, validation)
    here, there = (mean_text(float(losses.mean())) for losses in (validation, train))
    means = f"mean loss {here} against {there}{how}, p = {p:.2g}"
    if p < LEVEL:
        sentence = f"The validation rows are cleaner than the training rows ({means})."
    elif p > 1 - LEVEL:
        sentence = (
            f"The validation rows are harder than the training rows ({means}): of another kind, or "
            "of other class shares; if their labels are wrong as often, φ is no guide."
        )
    else:
        sentence = (
            f"The validation rows look no cleaner than the training rows ({means}): if their "
            "labels are wrong as often, φ is no guide."
        )
    return ValidationCheck(p < LEVEL, p, sentence)
