import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from uids.evaluate import auc, evaluate, gamma, worst_case

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


def test_auc():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 50)
    P = rng.dirichlet(np.ones(3), 50)
    assert auc(P, y) == pytest.approx(roc_auc_score(y, P, multi_class="ovr"))
    assert auc(P[:, :2], (y > 0).astype(int)) == pytest.approx(roc_auc_score(y > 0, P[:, 1]))
    assert auc(P, np.ones(50, dtype=int)) is None


def test_evaluate_a_model(fitted):
    train, model = fitted
    found = evaluate(model, train, deltas=(0.0, 0.5))
    assert found["logloss"] == pytest.approx(model.losses(train).mean())
    assert found["accuracy"] == (model.probabilities(train).argmax(axis=1) == train.y).mean()
    assert found["worst_case_logloss"]["0.0"] == pytest.approx(found["logloss"])
    assert found["worst_case_logloss"]["0.5"] > found["logloss"]
    assert gamma(model, model) == 0
