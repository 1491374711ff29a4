"""One conclusion: which model to use, by which rows, how sure, and what speaks against it."""

import json
from dataclasses import replace

import numpy as np
import pytest

import uids
from uids.pipeline.conclusion import compared
from uids.pipeline.judge import NO_TEST_LABELS
from uids.system.tuning import BASELINES

NAMES = ("full", "full_plus_validation", "subset", "subset_plus_validation")


def made(*means, spread=0.1, m=500, measure="logloss"):
    rng = np.random.default_rng(0)
    common = rng.random(m)
    noise = spread * rng.standard_normal((4, m))
    noise -= noise.mean(axis=1, keepdims=True)
    values = (common + mean + e for mean, e in zip(means, noise, strict=True))
    return {name: {measure: each} for name, each in zip(NAMES, values, strict=True)}


@pytest.mark.parametrize(
    ("means", "use", "against", "sure"),
    [
        ((0.5, 0.4, 0.3, 0.2), "subset_plus_validation", "subset", True),
        ((0.5, 0.4, 0.6, 0.45), "full_plus_validation", "full", True),
        ((0.5, 0.4, 0.6, 0.399), "full_plus_validation", "full", True),  # a tie: the plainer
        ((0.5, 0.501, 0.502, 0.503), "full", "full_plus_validation", False),
        ((0.5, 0.499, 0.502, 0.503), "full", "full_plus_validation", False),
        ((0.5, 0.6, 0.3, 0.4), "subset", "full", True),
    ],
)
def test_the_sentence_names_the_plainest_that_is_not_worse(means, use, against, sure):
    found = compared(made(*means), "logloss", "test")
    assert (found["use"], found["against"], found["sure"]) == (use, against, sure)
    low, high = found["interval"]
    assert low <= found["difference"] <= high
    assert found["sentence"].startswith("Use ")
    assert f"{low:+.4f} to {high:+.4f}" in found["sentence"]
    assert (
        "these rows chose it" in found["sentence"]
    )  # a selection on test rows says that it is one


def test_equal_models_are_no_reason_to_drop_rows():
    contest = made(0.5, 0.3, 0.5, 0.3)
    contest["subset"] = contest["full"]
    contest["subset_plus_validation"] = contest["full_plus_validation"]
    assert compared(contest, "logloss", "test")["use"] == "full_plus_validation"


def test_a_model_that_another_beats_beyond_doubt_is_not_advised():
    """Though it cannot be told apart from the best, whose values scatter more."""
    contest = made(0.5, 0.48, 0.6, 0.47, spread=0.01)
    rng = np.random.default_rng(1)
    wide = rng.standard_normal(500)
    best = contest["subset_plus_validation"]["logloss"]
    contest["subset_plus_validation"] = {"logloss": best + 2 * (wide - wide.mean())}
    found = compared(contest, "logloss", "test")
    assert found["use"] == "full_plus_validation"
    assert "cannot be told apart from the best (the subset and" in found["sentence"]


def test_one_test_row_makes_nobody_sure():
    found = compared(made(0.5, 0.4, 0.3, 0.2, m=1), "logloss", "test")
    assert found["use"] == "full"
    assert not found["sure"]


def test_what_moves_the_other_way_is_said():
    contest = made(0.5, 0.4, 0.3, 0.2)
    for name, errors in zip(
        NAMES, made(0.1, 0.1, 0.1, 0.3, measure="accuracy").values(), strict=True
    ):
        contest[name] = {**contest[name], **errors}
    sentence = compared(contest, "logloss", "test")["sentence"]
    assert sentence.endswith("; but its accuracy is lower by 0.2000 than with the subset.")
    by_accuracy = compared(contest, "accuracy", "test")
    assert by_accuracy["measure"] == "accuracy"
    assert by_accuracy["use"] != "subset_plus_validation"


def test_a_run_that_chooses_has_one_sentence_and_the_test_rows_only_confirm():
    result = uids.run(noise=0.3, auto=True)
    conclusion, choice = result.metrics["conclusion"], result.metrics["selection"]["choice"]
    assert conclusion["by"] == "held-out validation"
    assert conclusion["use"] == "subset_plus_validation"
    assert choice["final"] == "subset+validation"
    assert conclusion["sure"]
    test = result.metrics["baselines"]["subset_plus_validation"]["test"]["logloss"]
    assert f"test logloss {test:.4f}" in conclusion["sentence"]
    assert result.metrics["final"]["test"]["logloss"] == pytest.approx(test, rel=1e-5)
    assert conclusion["sentence"] in repr(result)


def test_test_rows_with_wrong_labels_do_not_judge():
    """Training and test rows of one noisy file, clean validation rows of another."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((900, 4))
    y = (X @ [2.0, -1.0, 1.0, 0.0] > 0).astype(int)
    noisy = np.where(rng.random(900) < 0.3, 1 - y, y)
    data = uids.Data(X[:700], noisy[:700], validation=(X[700:], y[700:]))
    for words in ({"auto": True}, {"sampler": "dropout", "ratio": 0.7}):
        conclusion = uids.run(data, **words).metrics["conclusion"]
        assert conclusion["by"] == "held-out validation"
        assert conclusion["sentence"].endswith(NO_TEST_LABELS)
        assert "; test logloss" not in conclusion["sentence"]
    clean = uids.Data(X[:700], y[:700], validation=(X[700:], y[700:]))
    assert uids.run(clean, ratio=0.9).metrics["conclusion"]["by"] == "test"


def test_the_terminal_and_the_page_begin_with_it(cli, tmp_path):
    code, out, err = cli("noise=0.3", "auto=true", "hydra.run.dir=run")
    assert code == 0, err
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    sentence = metrics["conclusion"]["sentence"]
    assert out.startswith(sentence)
    assert out.count("Use ") == 1
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.index("class=strong") < page.index("<h2>")


@pytest.mark.parametrize(
    "words",
    [
        {"auto": True, "choose": {"metric": "accuracy"}, "noise": 0.2, "seed": 1},
        {"auto": True, "choose": {"metric": "auc"}, "noise": 0.3},
        {"auto": True, "noise": 0.2, "noise_kind": "both", "seed": 2},
        {"ratio": "auto", "final": "full+validation", "validation_weight": 3.0},
        {"model": {"name": "logreg", "C": "auto"}, "final": "full", "ratio": 1.0},
        {"model": {"name": "logreg", "C": "auto"}, "final": "full+validation", "ratio": 1.0},
        {"ratio": "auto", "sampler": "dropout", "noise": 0.2},
    ],
    ids=str,
)
def test_sentence_models_and_files_are_of_one_model(words):
    """Where something is chosen, the model that is named is the one that was made."""
    result = uids.run(**words, repeats=1, cache=False)
    metrics = result.metrics
    conclusion, choice = metrics["conclusion"], metrics["selection"]["choice"]
    named = metrics["baselines"][conclusion["use"]]["test"]
    made = metrics["final"]["test"]
    assert made["logloss"] == pytest.approx(named["logloss"], rel=1e-4)
    assert made["accuracy"] == pytest.approx(named["accuracy"], abs=1e-12)
    sentence = conclusion["sentence"]
    assert sentence.startswith("Use the subset") == (choice["ratio"] < 1)
    assert conclusion["sure"] == (conclusion["interval"][1] < 0)
    if " better than " in sentence:
        assert ("within chance" in sentence) == (not conclusion["sure"])


def test_test_rows_that_contradict_the_choice_are_told():
    """Test rows of the person's own, in which a third of the labels are wrong the other way."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 3))
    y = (X[:, 0] + 0.3 * rng.standard_normal(1200) > 0).astype(int)
    train, judges, test = np.split(np.arange(1200), [600, 800])
    y[train] = np.where(rng.random(600) < 0.35, 1 - y[train], y[train])
    wrong = np.where(rng.random(400) < 0.45, 1 - y[test], y[test])
    for labels, contradicts in ((y[test], False), (wrong, True)):
        data = uids.Data(
            X[train], y[train], validation=(X[judges], y[judges]), test=(X[test], labels)
        )
        conclusion = uids.run(data, auto=True, repeats=1).metrics["conclusion"]
        assert ("test rows contradict each other" in conclusion["sentence"]) == contradicts
        assert conclusion["sure"] == (not contradicts)


def test_rows_that_were_dropped_by_doubtful_influence_are_told():
    result = uids.run(noise=0.2, noise_kind="both")
    assert result.metrics["conclusion"]["use"] == "subset"
    assert "dropped by φ, although the validation rows look no cleaner" in str(result)
    by_chance = uids.run(noise=0.2, noise_kind="both", sampler="random")
    assert "dropped by φ" not in by_chance.metrics["conclusion"]["sentence"]


def test_how_many_labels_are_wrong_is_told_by_trusted_rows_alone(cli, tmp_path):
    trusted = uids.run(noise=0.3).metrics["labels"]["sentence"]
    assert trusted.startswith("About ")
    few = uids.run(noise=0.3, split={"validation": 30}).metrics
    assert few["validation_check"]["cleaner"]
    assert few["labels"]["sentence"].startswith("At least ")
    code, out, err = cli("noise=0.2", "noise_kind=both", "seed=2", "auto=true", "hydra.run.dir=run")
    assert code == 0, err
    assert "How many training labels are wrong cannot be told" in out
    page = (tmp_path / "run" / "report.html").read_text()
    assert "probability that it is wrong" in page  # the rows to look at first


def test_large_data_without_test_rows_are_not_judged_unasked(monkeypatch):
    """Some thirty fits that nobody has asked for."""
    small = uids.run(split={"test": 0}, repeats=1).metrics["conclusion"]
    assert small["by"] == "held-out validation"
    few = replace(BASELINES, judged_entries=1000)
    monkeypatch.setattr("uids.pipeline.judge.Judge.__init__.__defaults__", (few,))
    large = uids.run(split={"test": 0}, repeats=1).metrics["conclusion"]
    assert (large["use"], large["by"], large["sure"]) == ("full", "", False)
    assert "only where they are asked to (auto=true" in large["sentence"]
    assert uids.run(split={"test": 0}, ratio="auto").metrics["conclusion"]["by"] == small["by"]
