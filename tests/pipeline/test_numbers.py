"""Models of numbers: nothing in a run asks for classes that are not there."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import uids
from uids.datasets.noise import Clean, add_noise
from uids.datasets.settings import SplitSettings
from uids.datasets.split import split
from uids.models import LinearLoss
from uids.pipeline.evaluate import logloss
from uids.report.run import rebuild_run, write_run


@dataclass(frozen=True)
class Squares(LinearLoss):
    loss_name: ClassVar[str] = "squared error"
    continuous: ClassVar[bool] = True

    def loss(self, y, z):
        return (y - z) ** 2

    def slope(self, y, z):
        return 2 * (z - y)

    def bend(self, y, z):
        return np.full(len(z), 2.0)


@dataclass(frozen=True)
class Brier(LinearLoss):
    """Of classes, by another loss than the logloss: (y − z)², z cut off as a probability."""

    loss_name: ClassVar[str] = "Brier score"

    def loss(self, y, z):
        return (y - z) ** 2

    def slope(self, y, z):
        return 2 * (z - y)

    def bend(self, y, z):
        return np.full(len(z), 2.0)

    def probability(self, z):
        return np.clip(z, 0.001, 0.999)


rng = np.random.default_rng(0)
X = rng.standard_normal((300, 4))
Y = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 5 + 0.3 * rng.standard_normal(300)


@pytest.fixture(scope="module")
def result():
    return uids.run((X, Y), Squares(), noise=0.1, repeats=2, cache=False)


def test_y_stays_as_it_is(result):
    np.testing.assert_array_equal(result.label[~result.flipped], Y[result.row[~result.flipped]])
    assert result.metrics["dataset"]["classes"] == 0
    assert result.metrics["dataset"]["labels"] == []


def test_the_loss_stands_under_its_own_name(result):
    metrics = result.metrics
    validation = metrics["full"]["validation"]
    assert validation["squared_error"] > 0
    assert {validation[key] for key in ("logloss", "accuracy", "auc")} == {None}
    assert metrics["loss"] == metrics["conclusion"]["measure"] == "squared error"
    assert "squared error of" in metrics["conclusion"]["sentence"]
    assert "logloss" not in json.dumps(metrics["conclusion"])
    for baseline in metrics["baselines"].values():
        assert baseline["test"]["squared_error"] > 0
        assert {*baseline.get("difference", {"squared_error": 0})} == {"squared_error"}
    assert "labels" not in metrics
    assert "squared error" in result._repr_html_()


def test_wrong_numbers_are_found(result):
    assert result.metrics["noise"]["flipped"] == result.flipped.sum() == 15
    assert result.metrics["noise"]["loss_auc"] > 0.7
    assert result.metrics["noise"]["label_error_auc"] is None
    with pytest.raises(uids.UidsError, match="no label audit: the model is of numbers"):
        _ = result.labels
    reason = result.reasons[0]
    assert reason.label == result.label[result.row == reason.row][0]
    assert reason.loo_probability is None
    assert reason.label_error is None


def test_predictions_are_numbers(result):
    predicted = result.predict(X[:5])
    assert np.abs(predicted - Y[:5]).max() < 2
    with pytest.raises(uids.UidsError, match="predicts numbers, and has no classes: use predict"):
        result.predict_proba(X[:5])


def test_the_files_of_a_run(result, tmp_path):
    write_run(tmp_path, result, "uids")
    table = pd.read_parquet(tmp_path / "influence.parquet")
    assert [*table.columns[:6]] == ["row", "label", "influence", "probability", "kept", "change"]
    assert "label_error" not in table.columns
    assert [*pd.read_csv(tmp_path / "dropped.csv").columns] == [
        *("row", "label", "influence", "change")
    ]
    text = rebuild_run(tmp_path)
    assert "test        squared error" in text
    assert "What is predicted are numbers: accuracy, AUC" in text
    page = (tmp_path / "report.html").read_text()
    assert "test squared error" in page
    assert "test logloss" not in page
    assert "mean logloss" not in page
    assert "numbers were exchanged" in page


def test_everything_can_be_left_open():
    """auto=true leaves out what is for classes: their shares, and the sampler by the audit."""
    found = uids.run((X, Y), Squares(C="auto"), auto=True, noise=0.1, cache=False)
    selection = found.metrics["selection"]
    assert selection["metric"] == "squared error"
    assert {*selection["sampler"]} <= {None, "dropout", "loss"}
    assert {*selection["stratify"]} <= {None, False}
    assert "held-out validation squared error" in found.metrics["conclusion"]["sentence"]
    assert (
        found.metrics["final"]["test"]["squared_error"]
        <= (found.metrics["full"]["test"]["squared_error"])
    )


def test_without_test_rows_held_out_validation_rows_judge():
    found = uids.run((X, Y), Squares(), split={"test": 0}, repeats=1, cache=False)
    assert found.metrics["full"]["test"] is None
    assert "held-out validation squared error" in found.metrics["conclusion"]["sentence"]


def test_a_loss_of_classes_beside_the_logloss():
    """The logloss is what comes from the probabilities, whatever the model was fitted by."""
    y = Y > 5
    found = uids.run((X, y), Brier(), repeats=1, cache=False)
    test = found.metrics["full"]["test"]
    assert {*test} == {"brier_score", "logloss", "accuracy", "auc", "worst_case_logloss"}
    assert found.metrics["conclusion"]["measure"] == "Brier score"
    held = np.array([i for i in range(300) if i not in {*found.row, *found.validation_row}])
    P = found.full.probabilities(uids_rows(X[held], y[held]))
    assert test["logloss"] == pytest.approx(logloss(P, y[held].astype(int)).mean())
    assert test["brier_score"] != pytest.approx(test["logloss"])


def uids_rows(X, y):
    from uids.backends import adopt
    from uids.models import Rows

    return Rows(adopt("numpy", X), y.astype(np.int64), 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"dataset": (X, np.repeat(["a", "b"], 150))}, "predicts numbers, and y of the training"),
        ({"dataset": (X, np.where(Y > 7, np.inf, Y))}, "y of the training rows is inf in row"),
        ({"sampler": "confident"}, "sampler 'confident' is for classes, and model 'Squares' is of"),
        ({"choose": {"metric": "auc"}}, "choose.metric=auc is for classes, and model 'Squares'"),
        ({"noise": 0.1, "noise_kind": "class"}, "noise_kind=class is for classes, and y are"),
    ],
)
def test_what_is_for_classes_is_refused_in_one_line(words, message):
    with pytest.raises(uids.UidsError, match=message):
        uids.run(**{"dataset": (X, Y), "model": Squares(), "cache": False, **words})


def test_influence_of_numbers():
    found = uids.influence(Squares(), (X[:200], Y[:200]), (X[200:], Y[200:]))
    again = uids.influence(
        Squares().fit(found.train), (X[:200], Y[:200]), (X[200:], Y[200:])
    )  # a model that is fitted already knows by itself that it has no classes
    np.testing.assert_array_equal(found.phi, again.phi)
    with pytest.raises(uids.UidsError, match="no classes, and no probabilities of them"):
        _ = found.loo_probability
    assert found.explain([3])[0].label == Y[3]
    assert found.predicted_change(np.arange(150)) != 0


def test_a_split_of_numbers_is_by_chance_alone():
    data = uids.Data(X, Y)
    shares = split(data, SplitSettings(), 0.0, 0, continuous=True)
    assert [len(part.y) for part in (shares.train, shares.validation, shares.test)] == [150, 60, 90]
    rows = np.concatenate([part.row for part in (shares.train, shares.validation, shares.test)])
    np.testing.assert_array_equal(np.sort(rows), np.arange(300))
    np.testing.assert_array_equal(shares.train.y, Y[shares.train.row])


@pytest.mark.parametrize("kind", ["uniform", "region", "both"])
def test_noise_on_numbers_exchanges_those_of_wrong_rows(kind):
    clean = Clean(X, np.arange(300), Y, Y[:50], 0)
    noisy = add_noise(clean, 0.2, kind, 0)
    wrong = np.zeros(300, dtype=bool)
    wrong[noisy.wrong] = True
    np.testing.assert_array_equal(noisy.y[~wrong], Y[~wrong])
    assert (noisy.y[wrong] != Y[wrong]).all()
    np.testing.assert_array_equal(np.sort(noisy.y[wrong]), np.sort(Y[wrong]))
    assert (noisy.y_validation != Y[:50]).sum() == (10 if kind == "both" else 0)


def test_numbers_of_a_table_beyond_the_count_of_classes(tmp_path):
    """The values are read as they are written, in every part."""
    from uids.datasets.formats.csv import Csv

    class Few(Csv):
        most_classes = 50

    frame = pd.DataFrame({"a": X[:, 0], "price": Y})
    frame.to_csv(tmp_path / "train.csv", index=False)
    frame[:20].to_csv(tmp_path / "test.csv", index=False)
    data = Few(
        train=str(tmp_path / "train.csv"), test=str(tmp_path / "test.csv"), target="price"
    ).load()
    np.testing.assert_array_equal(data.y, Y)
    np.testing.assert_array_equal(data.test[1], Y[:20])
    with pytest.raises(uids.UidsError, match="y looks continuous: it has 300 different values"):
        uids.run((X, data.y))
