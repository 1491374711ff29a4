"""What is checked of what a curvature may have beyond H: leverage and leave-one-out numbers, the
say of single features, and moves of its parameters."""

from __future__ import annotations

from unittest import SkipTest

import numpy as np

from uids.backends import Array
from uids.models import AdoptedFitted, Rows
from uids.registry import Chosen
from uids.testing.check import near
from uids.testing.curvatures import EXACT, SOME, moved
from uids.testing.models import N, fit_of


def without(fitted: AdoptedFitted, rows: Rows, i: int) -> Array:
    """H without row i: the weight of the row is 0."""
    return fitted.curvature(rows, (np.arange(len(rows)) != i).astype(float)).dense()


def leverage(chosen: Chosen) -> None:
    """row_forms(): leverage, self-influence and corrected φ, against H without the row."""
    _, rows, fitted = fit_of(chosen)
    curvature = fitted.curvature(rows)
    found = curvature.row_forms()
    if found is None:
        raise SkipTest("it has no row_forms()")
    H, G = curvature.dense(), curvature.row_gradients(rows)
    s = np.linalg.solve(H, G[:, :7].sum(axis=1))
    forms = found.exact(rows, np.linalg.inv(H))
    own = -np.einsum("ki,ki->i", G, np.linalg.solve(H, G))
    left = {int(i): without(fitted, rows, int(i)) for i in SOME}
    h = np.array([np.trace(np.linalg.solve(H, H - Hi)) for Hi in left.values()])
    fixed = np.array([-(H @ s) @ np.linalg.solve(Hi, G[:, i]) for i, Hi in left.items()])
    near(found.self_influence(rows, forms), own, "self_influence", 1e-8)
    near(found.leverage(rows, forms)[SOME], h, "leverage", 1e-8)
    near(found.corrected(rows, s, forms)[SOME], fixed, "corrected", 1e-8)


def leave_one_out(chosen: Chosen) -> None:
    """row_forms(): loss and probabilities of a row after one Newton step without it."""
    model, rows, fitted = fit_of(chosen)
    curvature = fitted.curvature(rows)
    found = curvature.row_forms()
    if found is None or not model.restorable:
        raise SkipTest("it has no row_forms(), or no restore(theta, rows) to step by")
    forms = found.exact(rows, np.linalg.inv(curvature.dense()))
    G = curvature.row_gradients(rows)
    losses = found.loo_loss(rows, forms)
    P = found.loo_probability(rows, forms) if rows.classes else G
    for i in SOME:
        step = np.linalg.solve(without(fitted, rows, int(i)), G[:, i]) / N
        there, row = moved(model, fitted, rows, step), rows.take(np.array([i]))
        near(losses[[i]], there.losses(row), f"loo_loss of row {i}", 1e-6)
        if rows.classes:
            near(P[[i]], there.probabilities(row), f"loo_probability of row {i}", 1e-6)


def feature_slopes(chosen: Chosen) -> None:
    """feature_slopes(rows, s): what the features say of ∇l_iᵀ s adds up to it."""
    _, rows, fitted = fit_of(chosen)
    curvature, some = fitted.curvature(rows), rows.take(SOME)
    s = np.random.default_rng(3).standard_normal(curvature.size)
    found = curvature.feature_slopes(some, s)
    if found is None:
        raise SkipTest("it has no feature_slopes(rows, s)")
    A, b = found
    total = (A * some.X.fetch()).sum(axis=1) + b
    near(total, curvature.row_products(some, s), "Σ x_ij A_ij + b_i", EXACT)


def moves(chosen: Chosen) -> None:
    """moved(step, index) has the losses and the gradients of the parameters there."""
    model, rows, fitted = fit_of(chosen)
    curvature, index = fitted.curvature(rows), np.arange(0, N, 3)
    step = 0.1 * np.random.default_rng(3).standard_normal(curvature.size)
    objective = curvature.moved(step, index)
    if objective is None or not model.restorable:
        raise SkipTest("it has no moved(step, index), or no restore(theta, rows) to compare with")
    there = moved(model, fitted, rows, step)
    near(objective.losses(rows), there.losses(rows), "moved(…).losses(rows)", EXACT)
    right = there.curvature(rows).gradient(rows)
    near(objective.gradient(rows), right, "moved(…).gradient(rows)", EXACT)
