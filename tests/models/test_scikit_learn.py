"""scikit-learn's LogisticRegression as a model: unfitted its parameters are taken over, fitted its
coefficients too, and what cannot be honoured is refused by its name."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import uids
from uids.models.scikit_learn import refuse


def problem(classes=2, n=150, d=4, seed=0):
    """Two pairs (X, y) with labels that are words, their features of very different size."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.arange(1, d + 1)
    score = X[:, 0] + 0.5 * rng.standard_normal(n)
    y = np.array(["a", "b", "c"])[np.digitize(score, [0] if classes == 2 else [-0.5, 0.5])]
    return (X[:100], y[:100]), (X[100:], y[100:])


def never_fit(monkeypatch):
    def fit(*_, **__):
        raise AssertionError("fitted again")

    monkeypatch.setattr("uids.models.logreg.LogisticRegression.fit", fit)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_unfitted_it_gives_its_parameters_to_logreg(classes, intercept):
    train, validation = problem(classes)
    estimator = LogisticRegression(C=0.7, fit_intercept=intercept)
    found = uids.influence(estimator, train, validation)
    own = {"name": "logreg", "C": 0.7, "fit_intercept": intercept}
    np.testing.assert_array_equal(found.phi, uids.influence(own, train, validation).phi)
    assert found.identity_error < 1e-6  # not at the tolerance of scikit-learn's, which is 1e-4
    assert not hasattr(estimator, "coef_")  # it stays as it was


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_fitted_it_is_not_fitted_again(monkeypatch, classes, intercept):
    train, validation = problem(classes)
    expected = uids.influence(
        {"name": "logreg", "C": 0.7, "fit_intercept": intercept}, train, validation
    ).phi
    never_fit(monkeypatch)
    estimator = LogisticRegression(C=0.7, fit_intercept=intercept, tol=1e-10, max_iter=1000)
    found = uids.influence(estimator.fit(*train), train, validation)
    # Two optimisers on one objective: their optima are as near as their tolerances.
    assert np.abs(found.phi - expected).max() <= 1e-4 * np.abs(expected).max()
    assert found.identity_error < 1e-4


def test_the_identity_error_tells_that_it_was_fitted_to_other_rows():
    train, validation = problem()
    other, _ = problem(seed=1)
    with pytest.warns(UserWarning, match="give the rows and the C that it was trained with"):
        uids.influence(LogisticRegression().fit(*other), train, validation)


def test_coefficients_that_were_made_sparse_are_taken_too():
    train, validation = problem()
    estimator = LogisticRegression(tol=1e-10).fit(*train)
    dense = uids.influence(estimator, train, validation).phi
    estimator.sparsify()
    np.testing.assert_array_equal(uids.influence(estimator, train, validation).phi, dense)
    assert not isinstance(estimator.coef_, np.ndarray)  # still as it was


def test_it_must_belong_to_the_features_and_the_labels():
    train, validation = problem()
    estimator = LogisticRegression().fit(train[0][:, :2], train[1])
    with pytest.raises(uids.UidsError, match="fitted to 2 features, and the data have 4"):
        uids.influence(estimator, train, validation)
    estimator = LogisticRegression().fit(train[0], train[1] == "a")
    with pytest.raises(uids.UidsError, match="to the labels False, True, and the data have a, b"):
        uids.influence(estimator, train, validation)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"class_weight": "balanced"}, "class_weight='balanced'"),
        ({"class_weight": {"a": 2.0}}, "class_weight={'a': 2.0}"),
        ({"solver": "liblinear"}, "solver='liblinear'"),
        ({"solver": "saga", "l1_ratio": 0.5}, "l1_ratio=0.5"),
        ({"C": np.inf}, "C must be positive"),
        ({"C": -1.0}, "C must be positive"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(parameters, name):
    train, validation = problem()
    with pytest.raises(uids.UidsError) as error:
        uids.influence(LogisticRegression(**parameters), train, validation)
    assert name in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(uids.UidsError, match="scikit-learn's LogisticRegression"):
        uids.run(model=LogisticRegression(**parameters))


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"penalty": "l1"}, "penalty='l1'"),
        ({"penalty": "elasticnet"}, "penalty='elasticnet'"),
        ({"penalty": None}, "penalty=None"),
        ({"multi_class": "ovr"}, "multi_class='ovr'"),
        ({"multi_class": "multinomial"}, "multi_class='multinomial'"),
    ],
)
def test_parameters_that_some_versions_have_are_refused_too(parameters, name):
    with pytest.raises(uids.UidsError, match=name):
        refuse({"solver": "lbfgs", **parameters})


def test_the_defaults_of_all_versions_are_taken():
    refuse({"solver": "lbfgs", "penalty": "l2", "l1_ratio": None, "multi_class": "auto"})
    refuse({"solver": "lbfgs", "penalty": "deprecated", "l1_ratio": 0.0, "class_weight": None})
    refuse({"solver": "lbfgs", "penalty": "l2", "multi_class": "deprecated"})


@pytest.mark.parametrize(
    "model", [RidgeClassifier(), StandardScaler(), LogisticRegressionCV(Cs=3), Pipeline([("m", 3)])]
)
def test_other_estimators_are_refused(model):
    with pytest.raises(uids.UidsError, match=r"cannot be a model of uids|model must be a name"):
        uids.run(model=model)


@pytest.mark.parametrize("fitted", [False, True])
def test_the_steps_of_a_pipeline_make_the_features(fitted):
    (X, y), (X_validation, y_validation) = problem()
    scaler = StandardScaler().fit(X)
    scaled = (scaler.transform(X), y), (scaler.transform(X_validation), y_validation)
    expected = uids.influence({"name": "logreg", "C": 1.0}, *scaled).phi
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=1.0, tol=1e-10))
    if fitted:
        pipeline.fit(X, y)
    found = uids.influence(pipeline, (X, y), (X_validation, y_validation))
    assert np.abs(found.phi - expected).max() <= 1e-4 * np.abs(expected).max()
    assert hasattr(pipeline[0], "mean_") == fitted  # it stays as it was


def test_steps_that_are_fitted_are_only_applied():
    (X, y), validation = problem()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10)).fit(X, y)
    moved = X + 1.0  # steps that were fitted to these rows would take the shift out again
    with pytest.warns(UserWarning, match="not at its optimum"):
        uids.influence(pipeline, (moved, y), validation)


def test_frames_go_through_the_steps():
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    (X, y), (X_validation, y_validation) = problem()

    def frame(X):
        words = np.where(X[:, 1] > 0, "up", "down")
        return pandas.DataFrame({"x": X[:, 0], "word": words})

    steps = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    pipeline = make_pipeline(steps, LogisticRegression())
    found = uids.influence(pipeline, (frame(X), y), (frame(X_validation), y_validation))
    assert found.train.X.shape == (100, 3)
    result = uids.run((frame(X), y), pipeline, repeats=1)
    assert result.metrics["dataset"]["features"] == 3


def test_a_run_with_a_pipeline_is_a_run_on_its_features():
    (X, y), _ = problem()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=1.0))
    found = uids.run((X, y), pipeline, repeats=1)
    expected = uids.run(
        (StandardScaler().fit_transform(X), y), {"name": "logreg", "C": 1.0}, repeats=1
    )
    np.testing.assert_allclose(found.influence, expected.influence, rtol=1e-9)
    assert found.metrics["config"]["model"]["name"] == "logreg"
    assert found.metrics["config"]["model"]["C"] == 1.0


def test_a_pipeline_of_the_model_alone_and_one_that_sees_the_labels():
    train, validation = problem()
    alone = uids.influence(make_pipeline(LogisticRegression()), train, validation)
    assert alone.train.X.shape[1] == 4
    chosen = make_pipeline(SelectKBest(k=2), LogisticRegression())
    assert uids.influence(chosen, train, validation).train.X.shape[1] == 2


def test_a_step_that_fails_is_named():
    train, validation = problem()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(train[0][:, :2], train[1])
    with pytest.raises(uids.UidsError, match="a step of the Pipeline before its model failed"):
        uids.influence(pipeline, train, validation)


def test_a_fitted_model_is_fitted_anew_by_a_run():
    (X, y), _ = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = LogisticRegression(max_iter=1).fit(X, y)  # far from its optimum
    found = uids.run((X, y), estimator, repeats=1)
    assert found.metrics["influence"]["identity_error"] < 1e-6


def test_nothing_of_scikit_learn_is_asked_where_it_is_not_loaded(monkeypatch):
    from uids.models import scikit_learn

    monkeypatch.setattr(scikit_learn, "sys", SimpleNamespace(modules={}))
    model = LogisticRegression()
    assert scikit_learn.taken_over(model) is None
    assert scikit_learn.taken_apart(model) == (None, model)
