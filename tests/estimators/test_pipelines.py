"""In pipelines, cross-validation and grid searches of the real packages, with validation rows
routed to where they are wanted."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import sklearn
from imblearn.pipeline import Pipeline as ResamplingPipeline
from imblearn.pipeline import make_pipeline as make_resampling_pipeline
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import uids


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def trusted(problem):
    return {"X_val": problem.X_val, "y_val": problem.y_val}


def test_imbalanced_learns_pipeline_fits_on_the_kept_rows_and_predicts_of_all(problem):
    pipeline = make_resampling_pipeline(
        StandardScaler(), uids.InfluenceSubsampler(ratio=0.7), LogisticRegression()
    ).fit(problem.X, problem.y)
    assert pipeline.predict(problem.X).shape == problem.y.shape
    scaled = StandardScaler().fit_transform(problem.X)
    kept = uids.InfluenceSubsampler(ratio=0.7).fit_resample(scaled, problem.y)
    assert_array_equal(pipeline[-1].coef_, LogisticRegression().fit(*kept).coef_)


def test_validation_rows_reach_the_subsampler_of_a_pipeline(binary, routing):
    pipeline = ResamplingPipeline(
        [("drop", uids.InfluenceSubsampler(ratio=0.7)), ("model", LogisticRegression())]
    )
    pipeline.fit(binary.X, binary.y, **trusted(binary))
    alone = uids.InfluenceSubsampler(ratio=0.7).fit(binary.X, binary.y, **trusted(binary))
    assert_array_equal(pipeline["drop"].sample_indices_, alone.sample_indices_)
    assert np.isfinite(pipeline["drop"].influence_).all()


def test_validation_rows_reach_a_step_by_its_name_without_routing(binary):
    step = uids.InfluenceClassifier(ratio=0.7)
    pipeline = Pipeline([("scale", StandardScaler()), ("model", step)])
    scale = StandardScaler().fit(binary.X)
    rows = {"model__X_val": scale.transform(binary.X_val), "model__y_val": binary.y_val}
    pipeline.fit(binary.X, binary.y, **rows)
    assert np.isfinite(step.influence_).all()


def test_a_pipeline_transforms_the_validation_rows_too(binary, routing):
    """By scikit-learn's ``transform_input``."""
    pipeline = Pipeline(
        [("scale", StandardScaler()), ("model", uids.InfluenceClassifier())],
        transform_input=["X_val"],
    )
    scale = StandardScaler().fit(10 * binary.X + 3)
    pipeline.fit(10 * binary.X + 3, binary.y, X_val=10 * binary.X_val + 3, y_val=binary.y_val)
    alone = uids.InfluenceClassifier().fit(
        scale.transform(10 * binary.X + 3),
        binary.y,
        scale.transform(10 * binary.X_val + 3),
        binary.y_val,
    )
    assert_allclose(pipeline["model"].coef_, alone.coef_)


def test_each_fold_is_judged_by_the_same_validation_rows(binary, routing):
    folds = StratifiedKFold(3)
    scored = cross_validate(
        uids.InfluenceClassifier(ratio=0.7),
        binary.X,
        binary.y,
        cv=folds,
        scoring="neg_log_loss",
        params=trusted(binary),
        return_estimator=True,
    )
    for (train, _), estimator in zip(
        folds.split(binary.X, binary.y), scored["estimator"], strict=True
    ):
        alone = uids.InfluenceClassifier(ratio=0.7)
        alone.fit(binary.X[train], binary.y[train], **trusted(binary))
        assert_array_equal(estimator.influence_, alone.influence_)


def test_cross_validation_of_a_pipeline_that_drops(binary):
    pipeline = make_resampling_pipeline(uids.InfluenceSubsampler(), LogisticRegression())
    scores = cross_val_score(pipeline, binary.X, binary.y, cv=3, scoring="roc_auc")
    assert scores.shape == (3,)
    assert (scores > 0.5).all()


def test_a_grid_search_over_ratio_and_C(binary, routing):
    grid = {"ratio": [0.6, 0.8, 1.0], "C": [0.1, 1.0]}
    search = GridSearchCV(uids.InfluenceClassifier(sampler="dropout"), grid, cv=3, refit=True)
    search.fit(binary.X, binary.y, **trusted(binary))
    assert len(search.cv_results_["params"]) == 6
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_
    assert {name: best.choice_[name] for name in grid} == search.best_params_
    assert np.isfinite(best.influence_).all()
    assert len(best.sample_indices_) == int(300 * search.best_params_["ratio"])


def test_a_grid_search_over_a_step_of_a_pipeline(binary, routing):
    pipeline = make_resampling_pipeline(
        uids.InfluenceSubsampler(sampler="dropout"), LogisticRegression()
    )
    grid = {"influencesubsampler__ratio": [0.7, 1.0], "logisticregression__C": [0.1, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(binary.X, binary.y, **trusted(binary))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert np.isfinite(search.best_estimator_[0].influence_).all()


def test_another_meta_estimator_routes_as_well(binary, routing):
    calibrated = CalibratedClassifierCV(uids.InfluenceClassifier(), cv=2)
    calibrated.fit(binary.X, binary.y, **trusted(binary))
    for each in calibrated.calibrated_classifiers_:
        assert np.isfinite(each.estimator.influence_).all()


def test_validation_rows_can_be_declined_or_go_by_another_name(binary, routing):
    renamed = uids.InfluenceClassifier().set_fit_request(X_val="X_clean", y_val="y_clean")
    pipeline = Pipeline([("model", renamed)])
    pipeline.fit(binary.X, binary.y, X_clean=binary.X_val, y_clean=binary.y_val)
    assert np.isfinite(renamed.influence_).all()
    declined = uids.InfluenceClassifier().set_fit_request(X_val=False, y_val=False)
    with pytest.raises(TypeError, match="X_val"):
        Pipeline([("model", declined)]).fit(binary.X, binary.y, **trusted(binary))


def run_alone(program):
    program = textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_imbalanced_learn_need_not_be_there():
    run_alone(
        """
        import sys
        sys.modules["imblearn"] = None
        import numpy as np
        import uids
        X = np.random.default_rng(0).normal(size=(60, 3))
        kept, _ = uids.InfluenceSubsampler(ratio=0.5).fit_resample(X, X[:, 0] > 0, X, X[:, 0] > 0)
        assert len(kept) == 30
        """
    )


def test_imbalanced_learn_may_be_imported_after_uids():
    """It adds ``fit_resample`` to what metadata are routed to when it is imported."""
    run_alone(
        """
        import sys
        import uids
        subsampler = uids.InfluenceSubsampler()
        assert "imblearn" not in sys.modules
        import numpy as np
        import sklearn
        from imblearn.pipeline import make_pipeline
        from sklearn.linear_model import LogisticRegression
        sklearn.set_config(enable_metadata_routing=True)
        X = np.random.default_rng(0).normal(size=(60, 3))
        y = X[:, 0] > 0
        make_pipeline(subsampler, LogisticRegression()).fit(X, y, X_val=X, y_val=y)
        assert np.isfinite(subsampler.influence_).all()
        """
    )
