"""The four models, the stacked rows under them, and the sentence about them."""

import numpy as np
import pytest
import scipy.sparse as sp
from problems import TwoProducts, make_rows

import uids
from uids.backends import adopt
from uids.backends.numba import Numba
from uids.backends.numpy import Numpy
from uids.models import stacked
from uids.models.adopted import adopt_model
from uids.models.logreg import LogisticRegression
from uids.pipeline.baselines import NAMES
from uids.selection.trials import fit_with


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "backend", [Numpy(), TwoProducts(), Numba()], ids=lambda b: type(b).__name__
)
def test_stacked_rows_are_the_rows_one_below_the_other(sparse, backend, monkeypatch):
    first = make_rows(n=40, d=5, classes=3, seed=1, sparse=sparse, backend=backend)
    second = make_rows(n=17, d=5, classes=3, seed=2, sparse=sparse, backend=backend)
    both = stacked(first, second)
    X = (sp.vstack if sparse else np.vstack)([first.X.fetch(), second.X.fetch()])
    X = sp.csr_matrix(X) if sparse else X
    whole = adopt(backend, X)
    monkeypatch.setattr(both.X, "fetch", None)  # none of the products copies X
    rng = np.random.default_rng(0)
    w = rng.random(57)
    assert both.X.shape == whole.shape == (57, 5)
    for name, arguments in (
        ("dot", [rng.standard_normal(5)]),
        ("dot", [rng.standard_normal((5, 3))]),
        ("tdot", [rng.standard_normal(57)]),
        ("tdot", [rng.standard_normal((57, 3))]),
        ("gram_dot", [w, rng.standard_normal(5)]),
        ("gram_dot", [w, rng.standard_normal((5, 2))]),
        ("outer_dot", [w]),
        ("square_tdot", [w]),
        ("gram", [w]),
        ("quadratic", [np.diag(np.arange(5.0))]),
        ("row_squares", []),
    ):
        found = getattr(both.X, name)(*arguments)
        np.testing.assert_allclose(found, getattr(whole, name)(*arguments), rtol=1e-12, atol=1e-12)
    v = rng.standard_normal(5)
    for found, expected in zip(both.X.scored_dot(w, v), whole.scored_dot(w, v), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    monkeypatch.undo()
    index = np.array([3, 50, 41])
    part = both.take(index)
    np.testing.assert_allclose(part.X.dot(np.eye(5)), whole.dot(np.eye(5))[index])
    np.testing.assert_array_equal(part.y, np.concatenate([first.y, second.y])[index])
    ascending = both.X.rows(np.sort(index))
    np.testing.assert_allclose(ascending.dot(np.eye(5)), whole.dot(np.eye(5))[np.sort(index)])


def test_views_of_one_matrix_are_stacked_as_one_view():
    rows = make_rows(n=60, d=5, sparse=True, backend=Numba())
    first, second = rows.take(np.arange(0, 60, 2)), rows.take(np.array([5, 1, 9]))
    both = stacked(first, second)
    assert both.X.whole is rows.X
    index = np.concatenate([np.arange(0, 60, 2), [5, 1, 9]])
    np.testing.assert_allclose(both.X.dot(np.eye(5)), rows.X.fetch()[index].toarray())
    np.testing.assert_array_equal(both.y, rows.y[index])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("d", [900, 5000])
def test_many_parameters_take_another_way_to_the_same_place(sparse, d):
    """Beyond some hundred parameters the fit is preconditioned, and looks at more of a matrix; with
    as many as 16 for each row it is in the space of the rows."""
    model = adopt_model(LogisticRegression(tol=1e-10))
    rows = make_rows(n=300, d=d, sparse=sparse)
    train, validation = rows.take(np.arange(200)), rows.take(np.arange(200, 300))
    found = fit_with(model, train, validation, None, 1.0, model.fit(train))
    np.testing.assert_allclose(found.theta, model.fit(rows).theta, atol=1e-6)


def test_what_is_only_judged_is_fitted_well_enough_for_that():
    train, validation, judges = (make_rows(seed=seed) for seed in range(3))
    model = adopt_model(LogisticRegression(tol=1e-12))
    start = model.fit(train)
    rough, exact = (
        fit_with(each, train, validation, None, 1.0, start) for each in (model.rough(), model)
    )
    assert rough.losses(judges).mean() == pytest.approx(exact.losses(judges).mean(), abs=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("weight", [1.0, 7.0])
def test_a_fit_with_the_validation_rows_is_that_of_all_of_them(weighted, weight):
    model = adopt_model("logreg")
    train, validation = make_rows(n=50), make_rows(n=20, seed=3)
    weights = np.linspace(0.5, 1.5, 50) if weighted else None
    found = fit_with(model, train, validation, weights, weight, model.fit(train))
    from sklearn.linear_model import LogisticRegression as Peer

    w = np.concatenate([np.ones(50) if weights is None else weights, np.full(20, weight)])
    X, y = (
        np.vstack([train.X.fetch(), validation.X.fetch()]),
        np.concatenate([train.y, validation.y]),
    )
    peer = Peer(C=0.1, tol=1e-10, max_iter=1000).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(found.theta, [*peer.coef_[0], peer.intercept_[0]], atol=1e-6)


@pytest.mark.parametrize("sampler", ["dropout", "sigmoid", "optimal"])
def test_the_four_rows_are_means_over_repeats_on_the_test_rows(sampler):
    metrics = uids.run(sampler=sampler, ratio=0.8, noise=0.2, repeats=3).metrics
    found = metrics["baselines"]
    assert tuple(found) == NAMES
    for name in ("full", "subset"):
        for measure in ("logloss", "accuracy", "auc"):
            assert found[name]["test"][measure] == pytest.approx(metrics[name]["test"][measure])
    assert found["full_plus_validation"]["test"]["logloss"] < found["full"]["test"]["logloss"]
    assert metrics["conclusion"]["use"] in NAMES
    assert metrics["conclusion"]["by"] == "test"


def test_without_test_rows_held_out_validation_rows_judge():
    metrics = uids.run(
        split={"test": 0}, repeats=1, noise=0.3, sampler="dropout", ratio=0.7
    ).metrics
    assert "baselines" not in metrics
    conclusion = metrics["conclusion"]
    assert conclusion["by"] == "held-out validation"
    assert conclusion["use"] == "subset_plus_validation"
    assert conclusion["sure"]


@pytest.mark.parametrize("test", [0, 0.3])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_final_model_is_the_one_asked_for(test, classes):
    rows = make_rows(n=200, d=5, classes=classes)
    keys = {"sampler": "dropout", "ratio": 0.8, "split": {"test": test}}
    plain = uids.run((rows.X.fetch(), rows.y), **keys)
    both = uids.run((rows.X.fetch(), rows.y), **keys, final="subset+validation")
    np.testing.assert_array_equal(plain.final.theta, plain.subset.theta)
    np.testing.assert_array_equal(plain.subset.theta, both.subset.theta)
    assert plain.metrics["subset"] == both.metrics["subset"]
    n = len(both.row)
    validation = np.setdiff1d(np.arange(200), both.row)
    if test == 0:
        kept = np.concatenate([both.row[both.kept], validation])
        assert len(kept) == int(0.8 * n) + 40
        peer = LogisticRegression().fit(rows.take(kept))
        np.testing.assert_allclose(both.final.theta, peer.theta, atol=1e-6)
