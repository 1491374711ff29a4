"""The statements of the paper, as they stand or as they must be put."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from problems import make_rows
from scipy.special import expit

from uids.models.logreg import LogisticRegression
from uids.pipeline.evaluate import worst_cases
from uids.registry import REGISTRIES
from uids.scoring.influence import influence_at
from uids.scoring.scores import Scores
from uids.solvers.adopted import adopt_solver

problems = {
    "n": st.integers(20, 80),
    "d": st.integers(1, 6),
    "classes": st.integers(2, 3),
    "seed": st.integers(0, 1000),
    "C": st.floats(0.01, 10),
}


def solved(n, d, classes, seed, C, intercept=True):
    both = make_rows(n + 20, d, classes, seed)
    train, validation = both.take(np.arange(n)), both.take(np.arange(n, n + 20))
    component = LogisticRegression(C=C, fit_intercept=intercept, tol=1e-12)
    model = component.fit(train)
    found = influence_at(model.curvature(train), train, validation, adopt_solver("direct"))
    return component, model, train, validation, found


@settings(deadline=None, max_examples=30)
@given(intercept=st.booleans(), **problems)
def test_lemma_1_corrected(n, d, classes, seed, C, intercept):
    """Σφ = θ̂ᵀ s / C over the penalised coordinates, and not 0."""
    _, model, _, _, found = solved(n, d, classes, seed, C, intercept)
    penalised = len(model.theta) - model.columns * intercept
    expected = model.theta[:penalised] @ found.solution.value[:penalised] / C
    assert found.phi.sum() == pytest.approx(expected, abs=1e-7 * np.abs(found.phi).sum())


def test_lemma_1_as_printed_holds_only_without_the_ridge():
    sums = [
        abs(found.phi.sum()) / np.abs(found.phi).sum()
        for C in (0.1, 1e3, 1e6)
        for *_, found in [solved(80, 3, 2, 0, C)]
    ]
    assert sums[0] > 0.05
    assert sums[1] < 0.01
    assert sums[2] < 1e-5


@settings(deadline=None, max_examples=30)
@given(**problems)
def test_lemma_2(n, d, classes, seed, C):
    """A perturbation that falls with φ has Cov(φ, ε) ≤ 0; the first-order change of the
    validation risk is Σ ε φ / m = (n/m) (Cov + mean φ · mean ε)."""
    _, model, train, validation, found = solved(n, d, classes, seed, C)
    table = Scores(found.phi, model.losses(train), train.y, found)
    for name in ("sigmoid", "linear", "dropout"):
        epsilon = (REGISTRIES["sampler"].build(name).probabilities(table) - 1) / n
        covariance = np.mean((found.phi - found.phi.mean()) * (epsilon - epsilon.mean()))
        assert covariance <= 1e-12 * np.abs(found.phi).max()
        first_order = epsilon @ found.phi / len(validation)
        parts = covariance + found.phi.mean() * epsilon.mean()
        assert first_order == pytest.approx(
            parts * n / len(validation), abs=1e-9 * np.abs(found.phi).max()
        )


def test_lemma_2_for_real_perturbations():
    """Weights 1 + n t ε_i with small t: the risk moves by t Σ ε φ / m, downwards."""
    component, model, train, validation, found = solved(80, 3, 2, 0, 1.0)
    table = Scores(found.phi, model.losses(train), train.y, found)
    epsilon = (REGISTRIES["sampler"].build("sigmoid").probabilities(table) - 1) / 80
    epsilon -= epsilon.mean()  # the whole weight stays: only the covariance is left
    t = 1e-3
    moved = component.fit(train, 1 + 80 * t * epsilon).losses(validation).mean()
    change = (moved - model.losses(validation).mean()) / t
    assert change == pytest.approx(epsilon @ found.phi / len(validation), rel=1e-2)
    assert change < 0


def worst_weights(losses, delta):
    """q with Σ q l = the worst-case risk, by its derivative."""
    h = 1e-6
    return np.array(
        [
            (worst_cases(losses + h * e, [delta])[0] - worst_cases(losses - h * e, [delta])[0])
            / (2 * h)
            for e in np.eye(len(losses))
        ]
    )


@settings(deadline=None, max_examples=15)
@given(
    losses=arrays(np.float64, 12, elements=st.floats(0.01, 3), unique=True),
    phi=arrays(np.float64, 12, elements=st.floats(-5, 5)),
    alpha=st.floats(0.1, 20),
    delta=st.floats(0.05, 2),
)
def test_theorem_3_corrected(losses, phi, alpha, delta):
    """With row losses l_i + ε(φ_i) φ_i at fixed φ (the proof's model), the gradient of the worst
    case is q_i φ_i ε'(φ_i) with ‖q‖ ≤ √(2δ + 1)/√n, so that

        ‖∇R‖ ≤ σ √(2δ + 1)/√n · max|φ|.

    The paper prints 1/n and ‖φ‖, taking every q_i to be at most √(2δ + 1)/n, which only their
    root mean square is."""
    n = 12
    span = np.ptp(phi) + 1e-3

    def epsilon(x):
        return (expit(-alpha * x / span) - 1) / n

    sigma = alpha / (4 * span * n)
    q = worst_weights(losses, delta)
    assert np.linalg.norm(q) <= np.sqrt((2 * delta + 1) / n) * (1 + 1e-3) + 1e-4
    h = 1e-5
    slope = (epsilon(phi + h) - epsilon(phi - h)) / (2 * h)
    assert (np.abs(slope) <= sigma * (1 + 1e-6)).all()
    gradient = q * phi * slope
    bound = sigma * np.sqrt((2 * delta + 1) / n) * np.abs(phi).max()
    assert np.linalg.norm(gradient) <= bound * (1 + 1e-3) + 1e-6


def test_theorem_3_as_printed_fails():
    """All weight on one row, which is also the one with influence: q = 1 there, not c/n."""
    losses, phi, delta, sigma = np.array([0.0, 0.1, 0.2, 3.0]), np.array([0, 0, 0, 1.0]), 2.0, 1.0
    q = worst_weights(losses, delta)
    printed = sigma * np.sqrt(2 * delta + 1) / 4 * np.linalg.norm(phi)
    assert np.linalg.norm(sigma * q * phi) > 1.5 * printed


@settings(deadline=None, max_examples=30)
@given(alpha=st.floats(0.1, 20), **problems)
def test_theorem_4(n, d, classes, seed, C, alpha):
    """Γ = ‖Σ ε_i ψ_i‖²: ‖∇Γ‖ ≤ 2 σ τ Σ‖ψ‖ (Σ‖ψ‖²)^½, with |ε| ≤ τ = 1/n and |ε'| ≤ σ."""
    _, _, train, _, found = solved(n, d, classes, seed, C)
    psi = -np.linalg.solve(found.curvature.dense(), found.curvature.row_gradients(train)).T
    np.testing.assert_allclose(found.psi_norm, np.linalg.norm(psi, axis=1), rtol=1e-7, atol=1e-12)
    span = np.ptp(found.phi)
    sigma = alpha / (4 * span * n)

    def surrogate(phi):
        epsilon = (expit(-alpha * phi / span) - 1) / n
        return float(np.sum((epsilon @ psi) ** 2))

    h = 1e-6 * span
    gradient = [
        (surrogate(found.phi + h * e) - surrogate(found.phi - h * e)) / (2 * h) for e in np.eye(n)
    ]
    norms = found.psi_norm
    bound = 2 * sigma / n * norms.sum() * np.linalg.norm(norms)
    assert np.linalg.norm(gradient) <= bound * (1 + 1e-6)
