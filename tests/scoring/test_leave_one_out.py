"""Leave-one-out numbers in closed form, against refits without each row."""

import numpy as np
import pytest
from problems import make_rows

import uids
from uids.models.logreg import LogisticRegression
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no intercept"])
def test_they_are_those_of_refits(classes, intercept, sparse):
    # The error of one Newton step falls with the square of the rows: 2e-3 at 150 of them.
    train = make_rows(n=400, d=5, classes=classes, sparse=sparse)
    model = LogisticRegression(C=0.5, fit_intercept=intercept, tol=1e-11)
    full = model.fit(train)
    scored = influence_at(full.curvature(train), train, train, adopt_solver("direct"))
    assert scored.loo_probability.shape == (len(train), classes)
    # The rows that decide most of their own prediction, for which it is hardest, and some others.
    tried = [*np.argsort(-scored.leverage)[:20], *range(0, len(train), 20)]
    probability, loss = [], []
    for i in tried:
        without = model.fit(train.take(np.delete(np.arange(len(train)), i)), start=full)
        row = train.take(np.array([i]))
        probability.append(without.probabilities(row)[0])
        loss.append(without.losses(row)[0])
    error = np.abs(scored.loo_probability[tried] - probability).max()
    assert error < 5e-4
    # The plain probabilities are off by far more: it is not they that are shown.
    assert np.abs(full.probabilities(train)[tried] - probability).max() > 20 * error
    np.testing.assert_allclose(scored.loo_loss[tried], loss, atol=2e-3)
    np.testing.assert_allclose(
        scored.loo_loss,
        -np.log(scored.loo_probability[np.arange(len(train)), train.y]),
        rtol=1e-9,
    )


def test_they_are_larger_than_the_training_losses():
    rows = make_rows(n=80, d=6)
    pair = rows.X.fetch(), rows.y
    model = LogisticRegression(C=1.0)
    found = uids.influence(model, pair, pair)
    assert (found.loo_loss >= model.fit(rows).losses(rows)).all()


def test_an_estimate_beyond_many_parameters_is_near():
    from dataclasses import replace

    from uids.system.tuning import NORMS

    train = make_rows(n=200, d=8)
    full = LogisticRegression(C=0.5).fit(train)
    exact = influence_at(full.curvature(train), train, train, adopt_solver("direct"), 2000)
    rough = replace(exact, tuning=replace(NORMS, ways=("probes",)))
    assert np.abs(exact.loo_probability - rough.loo_probability).max() < 0.01
