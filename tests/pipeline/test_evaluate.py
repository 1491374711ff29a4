import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from uids.pipeline.evaluate import auc, evaluate, gamma, worst_cases
from uids.selection.candidate import HeldOut


def worst_case(losses, delta):
    return worst_cases(losses, [delta])[0]


losses_of = arrays(np.float64, st.integers(2, 30), elements=st.floats(0, 10))


@pytest.mark.parametrize("delta", [0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_worst_case_is_the_maximum_over_reweightings(delta, seed):
    """Maximise Σ q_i l_i directly over q ≥ 0, Σq = 1, ½ Σ (n q_i − 1)² / n ≤ δ."""
    losses = np.random.default_rng(seed).exponential(size=12)
    n = len(losses)
    found = minimize(
        lambda q: -q @ losses,
        np.full(n, 1 / n),
        jac=lambda q: -losses,
        bounds=[(0, 1)] * n,
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1},
            {"type": "ineq", "fun": lambda q: delta - 0.5 * ((n * q - 1) ** 2).mean()},
        ],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    # Feasible, so not above the supremum; equal to the dual value, so not below it.
    assert found.x.sum() == pytest.approx(1, abs=1e-9)
    assert worst_case(losses, delta) == pytest.approx(-found.fun, rel=1e-6)


@given(losses=losses_of, delta=st.floats(0, 10))
def test_worst_case_lies_between_mean_and_maximum(losses, delta):
    value = worst_case(losses, delta)
    slack = 1e-9 * (1 + losses.max())
    assert losses.mean() - slack <= value <= losses.max() + slack
    assert value <= worst_case(losses, delta + 0.5) + 1e-6 * (1 + losses.max())


@given(losses=losses_of, delta=st.floats(0.01, 10))
@example(losses=np.repeat([0.0, 1.75], [2, 10]), delta=0.0625)
def test_worst_case_is_the_minimum_of_the_dual(losses, delta):
    """No η does better, neither on a grid over all that could nor just beside the losses."""
    c, span = np.sqrt(2 * delta + 1), np.ptp(losses)
    grid = np.linspace(losses.min() - 20 * span - 1, losses.max(), 4001)
    grid = np.concatenate([grid, losses, losses - 1e-6])
    dual = c * np.sqrt((np.maximum(losses - grid[:, None], 0) ** 2).mean(axis=1)) + grid
    value = worst_case(losses, delta)
    assert value <= dual.min() + 1e-9 * (1 + losses.max())
    assert value >= dual.min() - 0.01 * (1 + span)  # of which the grid may miss a little


def test_several_balls_take_one_sort():
    losses = np.random.default_rng(0).exponential(size=1000)
    deltas = (0.0, 0.1, 1.0, 5.0)
    assert worst_cases(losses, deltas) == [worst_case(losses, delta) for delta in deltas]


def test_auc_with_ties():
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 300), rng.integers(0, 10, 300) / 10
    P = np.stack([1 - score, score], axis=1)
    assert auc(P, y) == pytest.approx(roc_auc_score(y, score), abs=1e-14)


def test_auc():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 50)
    P = rng.dirichlet(np.ones(3), 50)
    assert auc(P, y) == pytest.approx(roc_auc_score(y, P, multi_class="ovr"))
    assert auc(P[:, :2], (y > 0).astype(int)) == pytest.approx(roc_auc_score(y > 0, P[:, 1]))
    assert auc(P, np.ones(50, dtype=int)) is None


def test_evaluate_a_model(fitted):
    train, model = fitted
    found = evaluate(HeldOut.of(model, train), deltas=(0.0, 0.5))
    assert found["logloss"] == pytest.approx(model.losses(train).mean())
    assert found["accuracy"] == (model.probabilities(train).argmax(axis=1) == train.y).mean()
    assert found["worst_case_logloss"]["0.0"] == pytest.approx(found["logloss"])
    assert found["worst_case_logloss"]["0.5"] > found["logloss"]
    assert gamma(model, model) == 0
