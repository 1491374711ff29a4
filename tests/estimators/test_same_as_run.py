"""The estimators do what a run does, and the last model is what scikit-learn makes of its rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import uids

KEYS = {
    "defaults": {},
    "dropout": {"ratio": 0.7, "sampler": "dropout", "stratify": True},
    "other solver": {"ratio": 0.8, "solver": "cg", "backend": "numpy"},
    "everything open": {"auto": True},
    "weighted": {"sampler": "mvc", "ratio": 0.6},
}


def run(problem, given, **keys):
    if given:
        data = uids.Data(problem.X, problem.y, validation=(problem.X_val, problem.y_val))
    else:
        data = (problem.X, problem.y)
    split = {"validation": 0.2, "test": 0.0}
    return uids.run(data, **keys, split=split, repeats=1, seed=3, cache=False)


def trusted(problem, given):
    return {"X_val": problem.X_val, "y_val": problem.y_val} if given else {}


def kept_rows(result):
    return np.sort(np.concatenate([result.row[result.kept], result.validation_row]))


@pytest.mark.parametrize("given", [True, False], ids=["validation rows", "split off"])
@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_the_classifier_is_the_final_model_of_a_run(problem, keys, given):
    final = {} if "auto" in keys else {"final": "subset+validation"}
    result = run(problem, given, **keys, **final)
    estimator = uids.InfluenceClassifier(**keys, random_state=3)
    estimator.fit(problem.X, problem.y, **trusted(problem, given))
    assert_array_equal(estimator.influence_[result.row], result.influence)
    assert_array_equal(estimator.probabilities_[result.row], result.probability)
    k, d = estimator.coef_.shape
    theta = result.final.theta.reshape(d + 1, k)
    assert_array_equal(estimator.coef_, theta[:d].T)
    assert_array_equal(estimator.intercept_, theta[d])
    if "auto" in keys:
        assert estimator.choice_ == result.metrics["selection"]["choice"]
    if estimator.choice_["final"] == "subset+validation":
        assert_array_equal(estimator.sample_indices_, kept_rows(result))


@pytest.mark.parametrize("given", [True, False], ids=["validation rows", "split off"])
@pytest.mark.parametrize("name", ["defaults", "dropout", "other solver", "everything open"])
def test_the_subsampler_keeps_the_rows_of_a_run(problem, name, given):
    keys = KEYS[name]
    final = "subset" if given else "subset+validation"
    result = run(problem, given, **keys, final=final, validation_weight=1.0)
    subsampler = uids.InfluenceSubsampler(**keys, random_state=3)
    X, y = subsampler.fit_resample(problem.X, problem.y, **trusted(problem, given))
    assert_array_equal(subsampler.sample_indices_, kept_rows(result))
    assert_array_equal(X, problem.X[kept_rows(result)])
    assert_array_equal(y, problem.y[kept_rows(result)])
    assert_array_equal(subsampler.influence_[result.row], result.influence)
    assert_array_equal(subsampler.probabilities_[result.row], result.probability)
    counts = np.unique(y, return_counts=True)
    assert subsampler.sampling_strategy_ == dict(zip(*map(np.ndarray.tolist, counts), strict=True))


@pytest.mark.parametrize("final", ["subset", "subset+validation", "full", "full+validation"])
def test_the_last_model_is_scikit_learns_on_the_same_rows(problem, final):
    estimator = uids.InfluenceClassifier(final=final, ratio=0.8, C=0.5, validation_weight=3.0)
    estimator.fit(problem.X, problem.y, problem.X_val, problem.y_val)
    rows = estimator.sample_indices_
    assert len(rows) == (300 if final.startswith("full") else 240)
    X, y, weights = problem.X[rows], problem.y[rows], np.ones(len(rows))
    if final.endswith("validation"):
        X, y = np.vstack([X, problem.X_val]), np.concatenate([y, problem.y_val])
        weights = np.concatenate([weights, np.full(len(problem.y_val), 3.0)])
    peer = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(X, y, weights)
    assert_allclose(estimator.predict_proba(problem.X), peer.predict_proba(problem.X), atol=1e-6)
    assert_array_equal(estimator.predict(problem.X_val), peer.predict(problem.X_val))
    if len(estimator.classes_) == 2:
        assert_allclose(estimator.coef_, peer.coef_, atol=1e-5)
        assert_allclose(estimator.intercept_, peer.intercept_, atol=1e-5)


@pytest.mark.parametrize("given", [True, False], ids=["validation rows", "split off"])
@pytest.mark.parametrize("final", ["subset", "subset+validation", "full", "full+validation"])
def test_rows_that_were_split_off_are_among_the_fitted_ones_where_final_says_so(
    binary, final, given
):
    estimator = uids.InfluenceClassifier(final=final, ratio=0.5)
    estimator.fit(binary.X, binary.y, **trusted(binary, given))
    scored = np.isfinite(estimator.influence_)
    assert scored.sum() == (300 if given else 240)
    assert (estimator.probabilities_[~scored] == 1).all()
    fitted = np.isin(np.arange(300), estimator.sample_indices_)
    assert fitted[scored].mean() == (1.0 if final.startswith("full") else 0.5)
    assert (fitted[~scored] == final.endswith("validation")).all()


def test_wrong_labels_are_found_and_dropped(problem):
    subsampler = uids.InfluenceSubsampler(ratio=0.8, sampler="dropout")
    subsampler.fit(problem.X, problem.y, problem.X_val, problem.y_val)
    assert roc_auc_score(problem.wrong, subsampler.influence_) > 0.85
    assert problem.wrong[subsampler.sample_indices_].mean() < problem.wrong.mean() / 2
    assert subsampler.validation_check_["cleaner"] is True


def test_rows_split_off_have_the_shares_of_the_classes(binary):
    rare = np.where(np.arange(300) % 10 == 0, "rare", "common")
    subsampler = uids.InfluenceSubsampler(validation_fraction=0.3).fit(binary.X, rare)
    split_off = rare[np.isnan(subsampler.influence_)]
    assert len(split_off) == 90
    assert (split_off == "rare").sum() == 9


def test_random_state_is_a_seed_a_stream_or_none(binary):
    def drawn(random_state):
        subsampler = uids.InfluenceSubsampler(random_state=random_state, ratio=0.5)
        return subsampler.fit(binary.X, binary.y).sample_indices_.tolist()

    assert drawn(5) == drawn(np.int64(5)) != drawn(6)
    stream = np.random.RandomState(0)
    first, second = drawn(stream), drawn(stream)
    assert first != second
    assert drawn(np.random.RandomState(0)) == first
    assert drawn(None) != drawn(None)
