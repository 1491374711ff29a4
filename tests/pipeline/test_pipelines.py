"""A Pipeline of scikit-learn's as the model: its steps go with the model wherever it goes."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import uids


def test_new_rows_go_through_the_steps(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    result = uids.run((X, y), make_pipeline(StandardScaler(), LogisticRegression(C=0.1)), ratio=0.9)
    scaled = uids.run((StandardScaler().fit_transform(X), y), ratio=0.9)
    expected = scaled.predict_proba(StandardScaler().fit_transform(X))
    np.testing.assert_allclose(result.predict_proba(X), expected, atol=1e-9)
    np.testing.assert_allclose(result.estimator().predict_proba(X), expected, atol=1e-9)
    pytest.importorskip("skops")
    result.save_model(tmp_path / "model.npz")
    kept = uids.load_model(tmp_path / "model.npz")
    np.testing.assert_allclose(kept.predict_proba(X), expected, atol=1e-9)
    with pytest.raises(uids.UidsError, match="a step of the Pipeline before its model"):
        result.predict(X[:, :3])


def test_steps_see_the_columns_of_a_frame_by_their_names():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 300), "town": rng.choice(["a", "b"], 300)})
    frame["churn"] = (frame["age"] + 9 * (frame["town"] == "a") + rng.normal(0, 5, 300) > 44) * 1
    columns = ColumnTransformer(
        [("n", StandardScaler(), ["age"]), ("t", OneHotEncoder(), ["town"])]
    )
    model = make_pipeline(columns, LogisticRegression(C=1.0))
    result = uids.run(frame, model, target="churn", ratio=1.0, final="full", sampler="random")
    X = columns.fit_transform(frame[["age", "town"]])
    oracle = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000)
    oracle.fit(X[result.row], frame["churn"][result.row])
    np.testing.assert_allclose(result.predict_proba(frame), oracle.predict_proba(X), atol=1e-6)


def test_reasons_name_the_persons_ids(tmp_path):
    from uids.report.run import write_run

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"id": [f"c{i}" for i in range(200)], "x": rng.normal(size=200)})
    frame["y"] = ((frame["x"] > 0) ^ (rng.random(200) < 0.2)) * 1
    result = uids.run(frame, target="y", id="id", repeats=1)
    write_run(tmp_path, result, "")
    rows = json.loads((tmp_path / "reasons.json").read_text())["rows"]
    assert rows
    assert all(row["id"] == f"c{row['row']}" for row in rows)
