"""Rows come back in the form in which they came; parameters and fitted objects behave as those of
scikit-learn."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

import uids

DENSE = uids.InfluenceSubsampler(ratio=0.5, sampler="dropout")


def resampled(X, y, **given):
    subsampler = clone(DENSE)
    return *subsampler.fit_resample(X, y, **given), subsampler.sample_indices_


@pytest.fixture
def frame(binary):
    """Of columns of four types, with an index of its own."""
    X = pd.DataFrame(binary.X, columns=list("abcde"))
    X["b"] = X["b"].astype(np.float32)
    X["c"] = (10 * X["c"]).round().astype(np.int16)
    X["d"] = X["d"] > 0
    X["e"] = X["e"].astype("Float64")
    index = np.random.default_rng(0).permutation([f"row {i}" for i in range(len(X))])
    y = pd.Series(np.where(binary.y == 1, "yes", "no"), name="churn")
    return X.set_axis(index), y.set_axis(index)


def test_frames_keep_columns_types_and_index(frame):
    X, y = frame
    X_kept, y_kept, rows = resampled(X, y)
    pd.testing.assert_frame_equal(X_kept, X.iloc[rows])
    pd.testing.assert_series_equal(y_kept, y.iloc[rows])
    assert list(X_kept.index) == list(y_kept.index)
    plain = X.to_numpy(dtype=np.float64), y.to_numpy()
    assert_array_equal(rows, resampled(*plain)[2])


def test_polars_frames_stay_what_they_are(frame):
    polars = pytest.importorskip("polars")
    X, y = frame
    X_kept, y_kept, rows = resampled(
        polars.DataFrame(X.reset_index(drop=True)), polars.Series("churn", y.to_numpy().tolist())
    )
    assert isinstance(X_kept, polars.DataFrame)
    assert X_kept.columns == list("abcde")
    assert y_kept.to_list() == y.iloc[rows].tolist()


def test_names_of_features_are_those_of_the_frame(frame, binary):
    X, y = frame
    classifier = uids.InfluenceClassifier().fit(X, y)
    assert classifier.feature_names_in_.tolist() == list("abcde")
    assert classifier.n_features_in_ == 5
    assert classifier.classes_.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(X[list("edcba")])
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.fit(X, y, X_val=X[list("edcba")], y_val=y)
    assert DENSE.fit(X, y).get_feature_names_out().tolist() == list("abcde")


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.coo_array, sp.csr_array])
def test_sparse_stays_sparse_in_its_format(binary, kind):
    thin = binary.X * (np.abs(binary.X) > 1)
    thin_val = binary.X_val * (np.abs(binary.X_val) > 1)
    X, X_val = kind(thin.astype(np.float32)), kind(thin_val.astype(np.float32))
    X_kept, y_kept, rows = resampled(X, binary.y, X_val=X_val, y_val=binary.y_val)
    assert type(X_kept) is type(X)
    assert X_kept.dtype == np.float32
    assert_array_equal(X_kept.toarray(), X.toarray()[rows])
    assert_array_equal(y_kept, binary.y[rows])
    classifier = uids.InfluenceClassifier(ratio=0.5, sampler="dropout")
    sparse = clone(classifier).fit(X, binary.y, X_val, binary.y_val)
    dense = classifier.fit(X.toarray(), binary.y, X_val.toarray(), binary.y_val)
    assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    assert_allclose(sparse.predict_proba(X_val), sparse.predict_proba(X_val.toarray()), atol=1e-12)


def test_sparse_entries_out_of_order_and_twice_predict_as_their_sums(binary):
    classifier = uids.InfluenceClassifier().fit(binary.X, binary.y)
    arrays = np.array([1.0, 2.0, 4.0]), np.array([3, 0, 3]), np.array([0, 3])
    odd = sp.csr_matrix(arrays, shape=(1, 5))
    dense = np.array([[2.0, 0.0, 0.0, 5.0, 0.0]])
    assert_allclose(classifier.predict_proba(odd), classifier.predict_proba(dense))


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [-1, 1], [False, True], [10.0, 20.0], np.array(["no", "yes"], dtype=object)],
    ids=str,
)
def test_labels_of_any_kind_come_back(binary, labels):
    labels = np.asarray(labels)
    classifier = uids.InfluenceClassifier(ratio=0.8)
    classifier.fit(binary.X, labels[binary.y], binary.X_val, labels[binary.y_val])
    assert classifier.classes_.dtype == labels.dtype
    assert_array_equal(classifier.classes_, labels)
    numbers = clone(classifier).fit(binary.X, binary.y, binary.X_val, binary.y_val)
    assert_array_equal(classifier.predict(binary.X), labels[numbers.predict(binary.X)])
    _, y_kept, rows = resampled(binary.X, labels[binary.y])
    assert y_kept.dtype == labels.dtype
    assert_array_equal(y_kept, labels[binary.y][rows])


def test_a_clone_of_a_fitted_one_is_not_fitted_and_fits_alike(binary):
    sampler = uids.REGISTRIES["sampler"].build("sigmoid", alpha=3.0)
    model = uids.REGISTRIES["model"].build("logreg", fit_intercept=False)
    fitted = uids.InfluenceClassifier(sampler=sampler, model=model, C=2.0).fit(binary.X, binary.y)
    assert fitted.choice_["C"] == 2.0
    assert_array_equal(fitted.intercept_, [0.0])
    again = clone(fitted)
    with pytest.raises(NotFittedError):
        again.predict(binary.X)
    assert again.get_params() == fitted.get_params()
    assert_array_equal(again.fit(binary.X, binary.y).coef_, fitted.coef_)


def test_a_fitted_one_comes_back_from_joblib(problem):
    fitted = uids.InfluenceClassifier().fit(problem.X, problem.y, problem.X_val, problem.y_val)
    file = BytesIO()
    joblib.dump(fitted, file)
    file.seek(0)
    again = joblib.load(file)
    assert_array_equal(again.predict_proba(problem.X), fitted.predict_proba(problem.X))
    assert again.choice_ == fitted.choice_


def test_it_shows_its_parameters():
    classifier = uids.InfluenceClassifier().set_params(ratio=0.75)
    assert repr(classifier) == "InfluenceClassifier(ratio=0.75)"
    assert "0.75" in classifier._repr_html_()
    assert "InfluenceSubsampler" in uids.InfluenceSubsampler()._repr_html_()
    assert is_classifier(classifier)
    assert not is_classifier(DENSE)


BAD = {
    "ratio": (2, "ratio must be in (0, 1] or 'auto' (got 2.0)"),
    "sampler": ("sigmod", "unknown sampler 'sigmod'. Did you mean 'sigmoid'?"),
    "C": (-1.0, "model 'logreg': C must be positive or 'auto' (got -1.0)"),
    "model": ("logregg", "unknown model 'logregg'. Did you mean 'logreg'?"),
    "solver": (3, "solver must be a name, a dict"),
    "backend": ("cuda", "unknown backend 'cuda'"),
    "stratify": (3, "stratify must be bool or str or None (got 3)"),
    "auto": ("yes", "auto must be bool (got 'yes')"),
    "metric": ("f1", "metric must be 'logloss' or 'accuracy' or 'auc' (got 'f1')"),
    "validation_fraction": (1.5, "validation_fraction must be in (0, 1) (got 1.5)"),
    "random_state": (-1, "seed must be 0 or more (got -1)"),
    "final": ("all", "final must be 'subset' or"),
    "validation_weight": (0, "validation_weight must be positive or 'auto' (got 0.0)"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_parameter_is_refused_by_fit_in_one_line(binary, name):
    value, message = BAD[name]
    kinds = [uids.InfluenceClassifier]
    if name not in ("final", "validation_weight"):
        kinds.append(uids.InfluenceSubsampler)
    for kind in kinds:
        estimator = kind(**{name: value})
        with pytest.raises(ValueError, match=re.escape(message)) as error:
            estimator.fit(binary.X, binary.y)
        assert isinstance(error.value, uids.UidsError)


@pytest.mark.parametrize("kind", [uids.InfluenceClassifier, uids.InfluenceSubsampler])
def test_bad_validation_rows_are_refused(binary, kind):
    def refused(X_val, y_val, words):
        with pytest.raises(ValueError, match=words):
            kind().fit(binary.X, binary.y, X_val, y_val)

    refused(binary.X_val, None, "y_val is missing: give X_val and y_val together")
    refused(None, binary.y_val, "X_val is missing")
    refused(binary.X_val, binary.y_val[1:], "inconsistent numbers of samples")
    refused(binary.X_val[:, 1:], binary.y_val, "4 features")
    refused(binary.X_val, binary.y_val + 7, "label 7, which no training row has")
    refused(sp.csr_array(binary.X_val), binary.y_val, "X is dense and X_val is sparse")
    refused(np.full_like(binary.X_val, np.nan), binary.y_val, "NaN")


def test_a_sampler_with_weights_is_for_the_classifier_only(binary):
    with pytest.raises(uids.UidsError, match="weights the rows that it keeps"):
        uids.InfluenceSubsampler(sampler="optimal").fit(binary.X, binary.y)
    some = uids.REGISTRIES["sampler"].build("auto", among=["dropout", "mvc"])
    with pytest.raises(uids.UidsError, match="'mvc' weights the rows that it keeps"):
        uids.InfluenceSubsampler(sampler=some).fit(binary.X, binary.y)
    uids.InfluenceClassifier(sampler="optimal").fit(binary.X, binary.y)


@dataclass(frozen=True)
class Broken:
    def probabilities(self, scores):
        raise KeyError("phi")


def test_what_fails_in_a_component_is_told_as_its_own(binary):
    with pytest.raises(uids.UidsError, match="Broken' failed: KeyError") as error:
        uids.InfluenceClassifier(sampler=Broken()).fit(binary.X, binary.y)
    assert not isinstance(error.value, ValueError)
