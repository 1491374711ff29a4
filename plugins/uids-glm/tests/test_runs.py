"""Whole runs, by name: from Python and from the command line."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import uids


@pytest.fixture
def houses():
    """The prices of 300 houses, of which 20 are three times what they should be."""
    rng = np.random.default_rng(0)
    area, town = rng.uniform(30, 200, 300), rng.choice(["Oslo", "Bergen", "Moss"], 300)
    price = 2000 * area + 30_000 * (town == "Oslo") + rng.normal(0, 20_000, 300)
    price[rng.choice(300, 20, replace=False)] *= 3
    ids = [f"h{i}" for i in range(300)]
    return pd.DataFrame({"house": ids, "area": area, "town": town, "price": price.round(2)})


def command(folder, *words):
    done = subprocess.run(
        [sys.executable, "-m", "uids", *words], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_file_of_numbers_from_the_command_line(houses, tmp_path):
    houses.to_csv(tmp_path / "houses.csv", index=False)
    words = ["model=ridge", "dataset=csv", "dataset.train=houses.csv", "dataset.target=price"]
    words += ["dataset.id=house", "ratio=auto", "sampler=loss", "hydra.run.dir=run"]
    out = command(tmp_path, *words)
    assert out.startswith("Use ")
    assert "held-out validation squared error" in out
    assert "logloss" not in out
    assert "What is predicted are numbers" in out
    files = {path.name for path in (tmp_path / "run").iterdir()}
    assert files >= {
        *("metrics.json", "influence.parquet", "dropped.csv", "subset.csv", "model.npz"),
        *("report.html", "reasons.json"),
    }
    metrics = json.loads((tmp_path / "run/metrics.json").read_text())
    assert metrics["selection"]["metric"] == metrics["loss"] == "squared error"
    assert min(metrics["selection"]["grid"]) < 1
    rows = pd.read_parquet(tmp_path / "run/influence.parquet")
    np.testing.assert_array_equal(rows["label"], houses["price"][rows["row"]])
    out = command(tmp_path, "predict", "run", "houses.csv", "-o", "predicted.csv")
    predicted = pd.read_csv(tmp_path / "predicted.csv")
    assert [*predicted.columns] == ["house", "prediction"]
    model = uids.load_model(tmp_path / "run/model.npz")
    np.testing.assert_allclose(predicted["prediction"], model.predict(houses), rtol=1e-12)
    # As close as least squares come, with the wrong prices among all parts of the file.
    assert np.corrcoef(predicted["prediction"], houses["price"])[0, 1] > 0.6


def test_a_sweep_compares_by_the_loss(houses, tmp_path):
    houses.to_csv(tmp_path / "houses.csv", index=False)
    words = ["-m", "model=ridge", "model.C=0.1,1", "dataset=csv", "dataset.train=houses.csv"]
    words += ["dataset.target=price", "dataset.drop=house", "hydra.sweep.dir=sweep", "repeats=2"]
    assert "squared error" in command(tmp_path, *words)
    summary = pd.read_csv(tmp_path / "sweep/summary.csv")
    assert (summary["subset_test_squared_error"] > 0).all()
    assert summary["subset_test_logloss"].isna().all()
    assert "test squared error: full" in (tmp_path / "sweep/summary.md").read_text()


def test_counts_from_a_frame(houses):
    rng = np.random.default_rng(1)
    frame = houses.assign(visits=rng.poisson(houses["area"] / 20)).drop(columns="price")
    found = uids.run(frame, "poisson", target="visits", id="house", repeats=2, cache=False)
    assert found.metrics["conclusion"]["measure"] == "half Poisson deviance"
    assert (found.predict(frame[:10]) > 0).all()
    with pytest.raises(uids.UidsError, match="counts must be 0 or more, and one of them is -1"):
        uids.run(frame.assign(visits=-1.0), "poisson", target="visits", id="house", cache=False)


@pytest.mark.parametrize("name", ["squared_hinge", "probit"])
def test_classifiers_keep_every_measure(name, tmp_path):
    found = uids.run(model=name, repeats=2, cache=False)
    test = found.metrics["full"]["test"]
    assert test["accuracy"] > 0.9
    assert test["auc"] > 0.95
    assert 0 < test["logloss"] < test["worst_case_logloss"]["1.0"]
    assert ("squared_hinge" in test) == (name == "squared_hinge")
    measure = {"squared_hinge": "squared hinge", "probit": "logloss"}[name]
    assert found.metrics["conclusion"]["measure"] == measure
    found.save_model(tmp_path / "model.npz")
    rows = np.random.default_rng(0).standard_normal((7, 30))
    again = uids.load_model(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict_proba(rows), found.predict_proba(rows))


def test_a_model_of_two_classes_says_so():
    with pytest.raises(uids.UidsError, match=r"two classes only, and there are 10"):
        uids.run("digits", "probit", cache=False)
