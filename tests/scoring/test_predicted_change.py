"""The predicted change of the validation loss for a subset, against refits."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_rows

import uids
from uids.models.logreg import LogisticRegression
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver


def problem(classes=2, sparse=False, flipped=0.0, n=600, intercept=True):
    """A fit with its influence; some of the training labels may be wrong."""
    both = make_rows(n=n + 300, d=8, classes=classes, sparse=sparse)
    train, validation = both.take(np.arange(n)), both.take(np.arange(n, n + 300))
    rng = np.random.default_rng(1)
    wrong = rng.random(n) < flipped
    train = replace(train, y=np.where(wrong, (train.y + 1) % classes, train.y))
    model = LogisticRegression(C=0.1, fit_intercept=intercept, tol=1e-11)
    full = model.fit(train)
    scored = influence_at(full.curvature(train), train, validation, adopt_solver("auto"))
    return model, full, scored


def refitted(model, full, scored, kept):
    after = model.fit(scored.train.take(kept), start=full).losses(scored.validation).mean()
    return after - full.losses(scored.validation).mean()


@pytest.mark.parametrize("flipped", [0.0, 0.3], ids=["clean", "flipped"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("classes", [2, 3])
def test_newton_steps_are_near_a_refit(classes, sparse, flipped):
    model, full, scored = problem(classes, sparse, flipped)
    harmful_last = np.argsort(scored.phi)
    by_chance = np.random.default_rng(3).permutation(len(scored.train))
    errors, rough = [], []
    for share in (0.1, 0.3, 0.5):
        for order in (harmful_last, by_chance):
            kept = np.sort(order[: round(len(order) * (1 - share))])
            change = refitted(model, full, scored, kept)
            errors.append(abs(scored.predicted_change(kept) / change - 1))
            rough.append(abs(scored.predicted_change_first_order(kept) / change - 1))
    assert max(errors) < 0.03
    # To first order single subsets can be right by chance; not all of them.
    assert max(rough) > 0.4
    assert np.mean(rough) > 20 * np.mean(errors)


def test_without_intercept_and_with_weights():
    """Against a refit with the same weights on the rows that are kept."""
    both = make_rows(n=500, d=5)
    train, validation = both.take(np.arange(300)), both.take(np.arange(300, 500))
    weights = np.random.default_rng(0).uniform(0.2, 3, 300)
    model = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-11)
    full = model.fit(train, weights)
    scored = influence_at(full.curvature(train, weights), train, validation, adopt_solver("direct"))
    kept = np.arange(0, 300, 2)
    after = model.fit(train.take(kept), weights[kept]).losses(validation).mean()
    change = after - full.losses(validation).mean()
    assert scored.predicted_change(kept) == pytest.approx(change, rel=0.01)


def test_a_step_that_goes_too_far_is_halved():
    """Rows that can be parted by a plane, and hardly a penalty: a whole step overshoots."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((200, 2)) * 3, rng.standard_normal((40, 2)) + 6])
    y = np.r_[(X[:200, 0] > 0).astype(int), np.zeros(40, dtype=int)]
    model = LogisticRegression(C=1e3)
    scored = uids.influence(model, (X, y), (X[:200], y[:200]))
    predicted = scored.predicted_change(np.arange(200))
    assert np.isfinite(predicted)
    assert predicted < 0  # the rows that are in the way are gone


def test_torch_models_can_be_moved_too():
    pytest.importorskip("torch")
    from uids.models.torch_logreg import TorchLogisticRegression
    from uids.models.torch_module import TorchModule

    both = make_rows(n=300, d=4, classes=3)
    train, validation = both.take(np.arange(200)), both.take(np.arange(200, 300))
    kept = np.arange(100)

    def scored(model):
        full = model.fit(train)
        return influence_at(full.curvature(train), train, validation, adopt_solver("direct"))

    ours, theirs = scored(LogisticRegression()), scored(TorchLogisticRegression())
    assert theirs.predicted_change(kept) == pytest.approx(ours.predicted_change(kept), rel=1e-4)
    exact = scored(TorchModule(curvature="hessian", damping=1.0, max_iter=50))
    assert exact.predicted_change(kept) == exact.predicted_change_first_order(kept)
