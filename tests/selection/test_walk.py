"""The walk over everything: against a slow search, what may not leak, and what was given."""

import json
from dataclasses import replace

import numpy as np
import pytest
from problems import make_rows

import uids
from uids.models.adopted import adopt_model
from uids.models.logreg import LogisticRegression
from uids.models.rows import stacked
from uids.pipeline.settings import make_settings
from uids.samplers.adopted import adopt_sampler
from uids.scoring.crossfit import fold_numbers
from uids.scoring.influence import influence_at
from uids.selection.candidate import Candidate
from uids.selection.choose import choose, tune_alone
from uids.selection.trials import Trials, fold_count
from uids.solvers.adopted import adopt_solver

MODEL = adopt_model(LogisticRegression(C=0.1))


def problem(classes=2, sparse=False, wrong=4):
    rows = make_rows(n=240, d=4, classes=classes, sparse=sparse)
    train, validation = rows.take(np.arange(120)), rows.take(np.arange(120, 240))
    y = train.y.copy()
    y[::wrong] = (y[::wrong] + 1) % classes
    train = replace(train, y=y)
    full = MODEL.fit(train)
    return full, influence_at(full.curvature(train), train, validation, adopt_solver("direct"))


def candidate(**fields):
    plain = Candidate(adopt_sampler("dropout"), 1.0, None, None, False, 0.0)
    return replace(plain, **fields)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weight", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("C", [None, 10.0])
def test_a_candidate_is_the_last_model_but_for_one_fold(classes, weight, C):
    full, found = problem(classes)
    trials = Trials(MODEL, make_settings(choose={"folds": 3}), full, found, 0)
    judged = trials.at(candidate(C=C, weight=weight))
    number = fold_numbers(found.validation.y, 3, 0)
    expected = []
    for k in range(3):
        held, others = (found.validation.take(np.flatnonzero(number == k) if same else
                        np.flatnonzero(number != k)) for same in (True, False))  # fmt: skip
        rows, weights = found.train, np.ones(len(found.train))
        if weight:
            rows = stacked(rows, others)
            weights = np.concatenate([weights, np.full(len(others), weight)])
        fitted = LogisticRegression(C=C or 0.1).fit(rows, weights)
        expected.append(fitted.losses(held))
    np.testing.assert_allclose(judged.values, np.concatenate(expected), atol=2e-4)


@pytest.mark.parametrize("sampler", ["dropout", "loss", "confident"])
def test_a_held_out_fold_has_no_part_in_the_candidate_that_it_judges(sampler, monkeypatch):
    """Poison the labels of one fold: the fits that it judges stay the same to the last digit."""
    full, found = problem()
    number = fold_numbers(found.validation.y, 4, 0)
    monkeypatch.setattr("uids.scoring.crossfit.fold_numbers", lambda *_: number)  # as they were
    y = found.validation.y.copy()
    y[number == 2] = 1 - y[number == 2]
    thetas = []
    for validation in (found.validation, replace(found.validation, y=y)):
        poisoned = replace(found, validation=validation)
        trials = Trials(MODEL, make_settings(choose={"folds": 4}), full, poisoned, 0)
        trials.at(candidate(sampler=adopt_sampler(sampler), ratio=0.7, weight=5.0))
        thetas.append([fit.theta for fit in trials._last])
    for k in range(4):
        assert np.array_equal(thetas[0][k], thetas[1][k]) == (k == 2)


def test_C_and_weight_are_those_of_a_search_over_all_of_them():
    full, found = problem(wrong=3)
    settings = make_settings(
        final="full+validation", choose={"Cs": [0.01, 0.1, 1], "weights": [1, 10], "folds": 4}
    )
    tuned = tune_alone(MODEL, settings, full, found, 0)
    trials = Trials(MODEL, settings, full, found, 0)
    means = {
        (C, w): trials.at(candidate(C=C, weight=w)).mean
        for C in (0.01, 0.1, 1)
        for w in (1.0, 10.0)
    }
    assert means[tuned.C, tuned.weight] <= min(means.values()) + 0.01


def test_where_rows_look_alike_both_judge_and_rankings_by_influence_are_left_out():
    full, found = problem(wrong=500)
    settings = make_settings(auto=True, ratio="auto", final="auto", validation_weight="auto",
                             stratify="auto", choose={"folds": 4})  # fmt: skip
    model = adopt_model(LogisticRegression(C="auto"))
    alike = choose(model, adopt_sampler("auto"), settings, full, found, 0, alike=True)
    rows = len(found.train) + len(found.validation)
    assert {len(each.values) for each in alike.pooled} == {rows}
    assert "dropout" not in {
        each.candidate.sampler.name for each in alike.judged if each.candidate.drops
    }
    other = choose(model, adopt_sampler("auto"), settings, full, found, 0)
    assert not other.pooled
    assert "dropout" in {
        each.candidate.sampler.name for each in other.judged if each.candidate.drops
    }


def test_a_row_that_judges_had_no_part_in_its_model_where_both_judge():
    full, found = problem()
    trials = Trials(MODEL, make_settings(choose={"folds": 3}), full, found, 0, pooled=True)
    judged = trials.at(candidate(weight=1.0))
    number = fold_numbers(found.train.y, 3, 0)
    inside = fold_numbers(found.validation.y, 3, 0)
    k = 1
    rows = stacked(
        found.train.take(np.flatnonzero(number != k)),
        found.validation.take(np.flatnonzero(inside != k)),
    )
    fitted = LogisticRegression().fit(rows)
    held = found.train.take(np.flatnonzero(number == k))
    sizes = [(inside == j).sum() + (number == j).sum() for j in range(3)]
    last = slice(sum(sizes[: k + 1]) - len(held), sum(sizes[: k + 1]))
    np.testing.assert_allclose(judged.values[last], fitted.losses(held), atol=2e-4)


def test_many_validation_rows_are_judged_by_a_part_of_them():
    assert fold_count(30, None) == (8, 8)
    assert fold_count(5, None) == (5, 5)
    assert fold_count(5_000, None) == (4, 4)
    assert fold_count(100_000, None) == (11, 1)
    assert fold_count(100_000, 3) == (3, 3)


def test_no_test_row_enters_a_choice_of_everything():
    rows = make_rows(n=300, d=5)
    X, y = rows.X.fetch(), rows.y
    rng = np.random.default_rng(0)

    def run(test):
        data = uids.Data(X[:200], y[:200], validation=(X[200:250], y[200:250]), test=test)
        return uids.run(data, auto=True, noise=0.2, split={"kind": "given"}, choose={"folds": 4})

    clean = run((X[250:], y[250:]))
    poison = run((1e3 * rng.standard_normal((50, 5)), 1 - y[250:]))
    assert clean.metrics["selection"] == poison.metrics["selection"]
    np.testing.assert_array_equal(clean.kept, poison.kept)
    np.testing.assert_array_equal(clean.final.theta, poison.final.theta)


def test_auto_opens_what_is_not_given():
    result = uids.run(auto=True, ratio=0.9, noise=0.1, choose={"folds": 2})
    config, choice = result.metrics["config"], result.metrics["selection"]["choice"]
    assert (config["ratio"], choice["ratio"]) == (0.9, 0.9)
    opened = {"final": "auto", "stratify": "auto", "validation_weight": "auto"}
    assert {key: config[key] for key in opened} == opened
    assert config["model"]["C"] == "auto"
    assert config["sampler"]["name"] == "auto"
    given = uids.run(auto=True, sampler="dropout", model=LogisticRegression(C=1.0), stratify=True,
                     final="subset", choose={"folds": 2}).metrics  # fmt: skip
    assert given["selection"]["choice"] == {
        **given["selection"]["choice"], "sampler": "dropout", "C": 1.0, "stratify": True,
        "final": "subset",
    }  # fmt: skip


def test_auto_on_the_command_line_leaves_what_was_typed(cli, tmp_path):
    words = ["auto=true", "noise=0.2", "choose.folds=2", "sampler=sigmoid", "ratio=0.95"]
    code, _, err = cli(*words, "model.C=0.1", "hydra.run.dir=run")
    assert code == 0, err
    config = json.loads((tmp_path / "run" / "metrics.json").read_text())["config"]
    assert (config["ratio"], config["sampler"]["name"], config["model"]["C"]) == (
        0.95,
        "sigmoid",
        0.1,
    )
    assert (config["final"], config["stratify"]) == ("auto", "auto")
    code, _, err = cli("auto=true", "noise=0.2", "choose.folds=2", "hydra.run.dir=other")
    assert code == 0, err
    config = json.loads((tmp_path / "other" / "metrics.json").read_text())["config"]
    assert (config["ratio"], config["sampler"]["name"], config["model"]["C"]) == ("auto",) * 3


def test_a_weight_of_rows_that_are_not_trained_on_is_not_chosen():
    with pytest.raises(uids.UidsError, match="nothing to weigh with final=subset"):
        uids.run(validation_weight="auto")
    assert uids.run(auto=True, final="subset", choose={"folds": 2}).metrics["config"]["final"]


def test_where_nothing_is_dropped_the_conclusion_is_the_full_set():
    metrics = uids.run(sampler="random", ratio="auto", noise=0.3, choose={"draws": 1}).metrics
    assert metrics["selection"]["choice"]["ratio"] == 1
    assert metrics["conclusion"]["use"] == "full"


@pytest.mark.parametrize("metric", ["accuracy", "auc"])
def test_the_choice_follows_the_measure(metric):
    metrics = uids.run(auto=True, noise=0.3, choose={"metric": metric, "folds": 4}).metrics
    assert metrics["selection"]["metric"] == metrics["conclusion"]["measure"] == metric
    assert metrics["final"]["test"][metric] > metrics["full"]["test"][metric]


def test_the_loss_leads_to_accuracy_unless_a_candidate_is_more_accurate_beyond_doubt(monkeypatch):
    full, found = problem()
    settings = make_settings(auto=True, choose={"metric": "accuracy", "folds": 3})
    model = adopt_model(LogisticRegression(C="auto"))
    by_loss = choose(
        model, adopt_sampler("auto"), make_settings(auto=True, choose={"folds": 3}), full, found, 0
    )
    picked = choose(model, adopt_sampler("auto"), settings, full, found, 0)
    assert picked.pick.candidate == by_loss.pick.candidate
    assert {each.metric for each in picked.judged} == {"accuracy"}
    assert picked.pick in picked.judged
    assert "none of the others has one that is lower than that beyond chance" in picked.reason

    # The plainest candidate is right in every row, all others in none.
    def values(self):
        plain = self.candidate.key == by_loss.start.candidate.key
        rows = len(self.held_out.losses)
        return (
            np.full(rows, float(not plain)) if self.metric == "accuracy" else self.held_out.losses
        )

    monkeypatch.setattr("uids.selection.candidate.Judged.values", property(values))
    assert by_loss.pick.candidate.key != by_loss.start.candidate.key
    picked = choose(model, adopt_sampler("auto"), settings, full, found, 0)
    assert picked.pick.candidate.key == by_loss.start.candidate.key
    assert "lowers the held-out validation error rate by 1.0000" in picked.reason


def test_a_plugins_sampler_is_among_those_that_auto_tries(entry_points, package):
    source = (
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Last:\n"
        "    deterministic = True\n"
        "    def probabilities(self, scores):\n"
        "        return 1 - scores.phi.argsort().argsort() / len(scores.phi)\n"
    )
    package("acme", __init__=source)
    entry_points("sampler", "last", "acme:Last")
    auto = uids.REGISTRIES["sampler"].build("auto", among=["last", "loss"])
    metrics = uids.run(sampler=auto, ratio="auto", noise=0.3, choose={"folds": 2}).metrics
    assert {"last", "loss"} <= set(metrics["selection"]["sampler"])
    with pytest.raises(uids.UidsError, match="unknown sampler 'nobody'"):
        uids.run(
            sampler=uids.REGISTRIES["sampler"].build("auto", among=["nobody", "loss"]), ratio="auto"
        )
    with pytest.raises(uids.UidsError, match="among must be a list of different names"):
        uids.REGISTRIES["sampler"].build("auto", among=["loss", "loss"])


def test_a_wide_sample_is_walked_without_its_empty_columns():
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    narrow = sp.csr_matrix(rng.standard_normal((150, 8)) * (rng.random((150, 8)) < 0.5))
    wide = sp.hstack([narrow, sp.csr_matrix((150, 5000))], format="csr")
    y = (np.asarray(narrow @ rng.standard_normal(8)).ravel() > 0).astype(int)
    found = [
        uids.run((X, y), auto=True, noise=0.2, choose={"folds": 3}).metrics for X in (narrow, wide)
    ]
    assert found[0]["selection"]["choice"] == found[1]["selection"]["choice"]
    np.testing.assert_allclose(*(f["selection"]["mean"] for f in found), atol=1e-5)


def test_C_is_not_lowered_by_judges_whose_labels_may_be_wrong():
    """Half of all labels are flipped, so that the smallest C has the smallest held-out loss."""
    _, found = problem()
    rng = np.random.default_rng(0)
    train, validation = (
        replace(rows, y=np.where(rng.random(len(rows)) < 0.5, 1 - rows.y, rows.y))
        for rows in (found.train, found.validation)
    )
    full = MODEL.fit(train)
    found = influence_at(full.curvature(train), train, validation, adopt_solver("direct"))
    settings = make_settings(ratio=1.0, final="full+validation", choose={"folds": 4})
    model, sampler = adopt_model(LogisticRegression(C="auto")), adopt_sampler("random")
    alike = choose(model, sampler, settings, full, found, 0, alike=True)
    assert min(each.candidate.C for each in alike.pooled) == 0.1
    other = choose(model, sampler, settings, full, found, 0)
    assert other.pick.candidate.C < 0.1
