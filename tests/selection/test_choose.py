"""The choice of the ratio: cross-fitting against a slow loop, and what may not leak."""

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import real_data
from problems import make_rows

import uids
from uids.models.adopted import adopt_model
from uids.models.logreg import LogisticRegression
from uids.pipeline.settings import make_settings
from uids.samplers.adopted import adopt_sampler
from uids.scoring.crossfit import crossfit, fold_numbers
from uids.scoring.influence import influence_at
from uids.selection.choose import choose
from uids.selection.subset import draw_subset
from uids.solvers.adopted import adopt_solver

MODEL = adopt_model(LogisticRegression(C=0.5))


def problem(classes=2, sparse=False):
    """(full model, influence) of a problem with a fifth of its training labels wrong."""
    rows = make_rows(n=190, d=4, classes=classes, sparse=sparse)
    train, validation = rows.take(np.arange(120)), rows.take(np.arange(120, 190))
    y = train.y.copy()
    y[::5] = (y[::5] + 1) % classes
    train = replace(train, y=y)
    full = MODEL.fit(train)
    return full, influence_at(full.curvature(train), train, validation, adopt_solver("direct"))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_cross_fitting_is_what_a_slow_loop_gives(classes, sparse):
    full, found = problem(classes, sparse)
    train, validation = found.train, found.validation
    settings = make_settings(ratio="auto", choose={"folds": 3, "ratios": [0.9, 0.7]})
    sampler = adopt_sampler("dropout")
    selection = choose(MODEL, sampler, settings, full, found, settings.seed)
    number = fold_numbers(validation.y, 3, settings.seed)
    H = found.curvature.dense()
    G = found.curvature.row_gradients(train)
    expected = {ratio: np.empty(len(validation)) for ratio in (0.9, 0.7)}
    for k in range(3):
        held, others = np.flatnonzero(number == k), np.flatnonzero(number != k)
        g = found.curvature.row_gradients(validation.take(others)).sum(axis=1)
        phi = -np.linalg.solve(H, g) @ G
        for ratio, losses in expected.items():
            kept = draw_subset(-phi, train, sampler, ratio, "exact", False, 0)[0].rows
            fitted = MODEL.fit(train.take(kept))  # cold: the start must not matter
            losses[held] = fitted.losses(validation.take(held))
    base = full.losses(validation)
    order = np.argsort(number, kind="stable")  # one fold after the other
    assert [each.candidate.ratio for each in selection.judged] == [1.0, 0.9, 0.7]
    assert selection.start is selection.tuned is selection.judged[0]
    np.testing.assert_allclose(selection.start.values, base[order], atol=1e-6)  # rough fits
    for each in selection.judged[1:]:
        losses = expected[each.candidate.ratio][order]
        assert each.mean == pytest.approx(losses.mean(), abs=1e-6)
        error = (losses - base[order]).std(ddof=1) / np.sqrt(len(base))
        assert each.error_against(selection.start) == pytest.approx(error, abs=1e-6)


@pytest.mark.parametrize("m", [2, 7, 30])
def test_folds_are_even_and_stratified(m):
    y = (np.arange(m) % 3 == 0).astype(np.int64)
    number = fold_numbers(y, 2, seed=1)
    assert abs(np.bincount(number, minlength=2) @ [1, -1]) <= 1
    for k in (0, 1):
        assert abs(np.bincount(number[y == k], minlength=2) @ [1, -1]) <= 1


def test_a_held_out_fold_has_no_part_in_its_own_scores():
    """Poison one fold: the scores that it judges stay the same to the last digit, and those that
    it has a part in change."""
    full, found = problem()
    number = fold_numbers(found.validation.y, 4, 0)
    before = crossfit(full, found, 4, 0)
    X = found.validation.X.fetch().copy()
    X[number == 2] = 1e6
    poisoned = replace(found.validation, X=found.validation.X.like(X))
    after = crossfit(full, replace(found, validation=poisoned), 4, 0)
    for k in range(4):
        np.testing.assert_array_equal(before[k].index, after[k].index)
        same = np.array_equal(before[k].scores.phi, after[k].scores.phi)
        assert same == (k == 2)
        assert len(before[k].scores.influence.validation) == (number != k).sum()


def test_no_test_row_enters_a_choice():
    X, y = make_rows(n=300, d=5).X.fetch(), make_rows(n=300, d=5).y
    rng = np.random.default_rng(0)

    def run(test):
        data = uids.Data(X[:200], y[:200], validation=(X[200:250], y[200:250]), test=test)
        return uids.run(data, sampler="dropout", ratio="auto", noise=0.2, split={"kind": "given"})

    clean = run((X[250:], y[250:]))
    poison = run((1e3 * rng.standard_normal((50, 5)), 1 - y[250:]))
    assert clean.metrics["selection"] == poison.metrics["selection"]
    np.testing.assert_array_equal(clean.kept, poison.kept)
    np.testing.assert_array_equal(clean.final.theta, poison.final.theta)
    assert clean.metrics["baselines"] != poison.metrics["baselines"]


def test_auto_finds_flipped_labels_and_leaves_hopeless_rows_alone():
    noisy = uids.run(sampler="dropout", ratio="auto", noise=0.3)
    selection = noisy.metrics["selection"]
    assert selection["chosen"] in selection["grid"]
    assert selection["chosen"] <= 0.8
    assert noisy.metrics["subset"]["size"] == int(selection["chosen"] * 284)
    assert noisy.metrics["config"]["ratio"] == "auto"
    test = {name: each["test"]["logloss"] for name, each in noisy.metrics["baselines"].items()}
    assert test["subset_plus_validation"] < 0.5 * min(test["full"], test["full_plus_validation"])
    random = uids.run(sampler="random", ratio="auto", noise=0.3, repeats=1, choose={"draws": 1})
    assert random.metrics["selection"]["chosen"] == 1.0
    assert random.metrics["selection"]["choice"]["ratio"] == 1.0
    assert random.metrics["subset"]["size"] == 284
    assert random.metrics["selection"]["not_tried"]  # it stopped where nothing was to be had


@dataclass(frozen=True)
class Plain:
    """A plugin's sampler, with no word about any choice."""

    def probabilities(self, scores):
        return 0.5 - 0.5 * np.tanh(10 * scores.phi / np.abs(scores.phi).max())


@dataclass(frozen=True)
class Steep:
    """One with an α, which takes part by its type alone."""

    alpha: float | str = 1.0
    seen: ClassVar[list] = []

    def probabilities(self, scores):
        self.seen.append(self.alpha)
        assert len(scores.psi_norm) == len(scores.phi)
        return 0.5 - 0.5 * np.tanh(self.alpha * scores.phi / np.abs(scores.phi).max())


def test_any_sampler_takes_part():
    chosen = {"draws": 1, "ratios": [0.9, 0.7], "alphas": [0.01, 20]}
    plain = uids.run(sampler=Plain(), ratio="auto", noise=0.3, repeats=1, choose=chosen)
    assert plain.metrics["selection"]["chosen"] < 1
    steep = uids.run(sampler=Steep("auto"), ratio="auto", noise=0.3, repeats=1, choose=chosen)
    selection = steep.metrics["selection"]
    assert selection["chosen_alpha"] == 20
    assert set(Steep.seen) == {0.01, 20}
    assert len(selection["alpha"]) == len(selection["grid"]) == len(selection["mean"])
    json.dumps(selection, allow_nan=False)


def test_alpha_alone_is_chosen_at_the_ratio_that_is_given():
    chosen = {"draws": 1, "alphas": [0.1, 50], "folds": 2}
    for sampler in ("sigmoid", "linear"):
        built = uids.REGISTRIES["sampler"].build(sampler, alpha="auto")
        result = uids.run(sampler=built, ratio=0.8, noise=0.3, repeats=1, choose=chosen)
        selection = result.metrics["selection"]
        assert selection["grid"] == [0.8, 0.8]
        assert selection["chosen"] == 0.8
        best = selection["alpha"][int(np.argmin(selection["mean"]))]
        unit = 1 / np.abs(result.influence).max() if sampler == "linear" else 1
        assert selection["chosen_alpha"] == pytest.approx(best * unit)


@pytest.mark.parametrize("sampler", ["optimal", "local_case_control"])
def test_weighted_samplers_take_part(sampler):
    metrics = uids.run(sampler=sampler, ratio="auto", repeats=1, choose={"draws": 1}).metrics
    assert metrics["selection"]["chosen"] == 1.0


def test_what_cannot_be_chosen_is_refused():
    with pytest.raises(uids.UidsError, match="draw=bernoulli does not use the ratio"):
        uids.run(ratio="auto", draw="bernoulli")
    with pytest.raises(uids.UidsError, match="more than one validation row"):
        uids.run(ratio="auto", split={"validation": 1})
    with pytest.raises(uids.UidsError, match="alpha must be positive or 'auto'"):
        uids.REGISTRIES["sampler"].build("sigmoid", alpha="steep")


def test_two_validation_rows_are_enough_to_run_and_too_few_to_choose():
    metrics = uids.run(ratio="auto", sampler="dropout", split={"validation": 2}).metrics
    assert metrics["selection"]["chosen"] == 1.0
    assert metrics["selection"]["folds"] == 2


def test_from_the_command_line(cli, tmp_path, root):
    code, out, err = cli(
        "ratio=auto", "sampler=dropout", "noise=0.3", "choose.ratios=[0.8,0.6]", "choose.folds=3",
        "final=subset+validation", "hydra.run.dir=run",
    )  # fmt: skip
    assert code == 0, err
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["selection"]["grid"] == [1.0, 0.8, 0.6]
    assert metrics["config"]["choose"]["folds"] == 3
    assert metrics["config"]["final"] == "subset+validation"
    for words in (
        "subset + validation",
        "why: ratio=0.",
        "Use the subset and the validation rows (ratio=0.",
    ):
        assert words in out
    page = (tmp_path / "run" / "report.html").read_text()
    assert "How much to keep" in page
    assert "What to train on" in page
    assert (tmp_path / "run" / "figures" / "selection.png").stat().st_size > 1000
    (tmp_path / "run" / "report.html").unlink()
    assert cli("report", "run")[0] == 0
    assert (tmp_path / "run" / "report.html").read_text() == page
    assert cli("ratio=1", "sampler=dropout", "hydra.run.dir=all")[0] == 0
    code, _, err = cli("ratio=most")
    assert code == 1
    assert "ratio must be in (0, 1] or 'auto' (got 'most')" in err


def test_a_whole_number_is_no_other_value(cli, tmp_path):
    code, out, err = cli("sampler.alpha=1,1.0,auto", "choose.alphas=[1]", "ratio=1,1.0", "-m")
    assert code == 0, err
    assert "2 points" in out


@dataclass(frozen=True)
class OneClass:
    """Keeps the rows of the other class alone."""

    lost: int = 0
    deterministic: ClassVar[bool] = True

    def probabilities(self, scores):
        return np.where(scores.y == self.lost, 0.0, 1.0)


def test_rows_without_a_class_are_no_candidate():
    """Though the validation rows in the last fit would make up for it."""
    result = uids.run(
        sampler=OneClass(), ratio="auto", final="subset+validation", repeats=1, noise=0.3,
        choose={"ratios": (0.9, 0.5, 0.3)},
    )  # fmt: skip
    assert 0.9 in result.metrics["selection"]["grid"]
    assert 0.5 not in result.metrics["selection"]["grid"]
    assert 0.3 not in result.metrics["selection"]["grid"]


def test_a_choice_whose_rows_have_lost_a_class_drops_nothing():
    """None of the folds had: the validation rows weigh 30, and AUC does not see the intercept."""
    real_data.file("skin_nonskin.bz2")
    result = uids.run(
        "skin_nonskin", split={"train": 2000, "validation": 800, "test": 6000}, noise=0.2,
        noise_kind="region", seed=131, repeats=1, auto=True, choose={"metric": "auc"},
    )  # fmt: skip
    selection = result.metrics["selection"]
    assert selection["choice"]["ratio"] == 1
    assert "no row of some class would be left" in selection["reason"]
    assert result.metrics["final"]["test"]["auc"] > 0.95
