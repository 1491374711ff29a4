"""Whole runs from Python, without Hydra and without files."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from problems import TwoProducts, make_rows

import uids
from uids.system.files import plain


@dataclass(frozen=True)
class Made:
    """A data set of a person's own; nothing of uids is imported for it."""

    classes: int = 2
    sparse: bool = False
    test: bool = True

    def load(self):
        rows = make_rows(n=200, d=6, classes=self.classes, sparse=self.sparse)
        return rows.X.fetch(), np.array(["ham", "spam", "eggs"])[rows.y]


@dataclass(frozen=True)
class Least(TwoProducts):
    pass


@dataclass(frozen=True)
class ByLoss:
    """Looks at everything that a sampler may look at."""

    weighted: ClassVar[bool] = True

    def probabilities(self, scores):
        assert len(scores.phi) == len(scores.loss) == len(scores.y) == len(scores.psi_norm)
        return np.clip(scores.psi_norm / scores.psi_norm.max(), 0.05, 1)


def test_dropping_what_harms_helps_on_flipped_labels():
    metrics = uids.run(noise=0.3, ratio=0.7, sampler="dropout").metrics
    assert metrics["dataset"]["flipped"] == int(0.3 * 284)
    full, subset = metrics["full"]["test"], metrics["subset"]["test"]
    assert subset["logloss"] < 0.5 * full["logloss"]
    assert subset["accuracy"] > full["accuracy"] + 0.1
    random = uids.run(noise=0.3, ratio=0.7, sampler="random").metrics["subset"]["test"]
    assert random["logloss"] > 0.9 * full["logloss"]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("backend", ["numpy", Least()], ids=["numpy", "two products"])
def test_every_shape_of_problem_runs(classes, sparse, backend):
    result = uids.run(Made(classes, sparse), backend=backend, sampler=ByLoss(), repeats=2)
    metrics = result.metrics
    assert metrics["status"] == "ok"
    assert metrics["dataset"]["classes"] == classes
    assert metrics["influence"]["identity_error"] < 1e-6
    assert set(result.label) == set(
        ["eggs", "ham", "spam"][-classes:] if classes == 2 else ["eggs", "ham", "spam"]
    )
    json.dumps(plain(metrics), allow_nan=False)


def test_the_same_seed_gives_the_same_rows_on_every_backend():
    one, two = (uids.run(backend=backend, repeats=1) for backend in ("numpy", Least()))
    np.testing.assert_array_equal(one.kept, two.kept)
    np.testing.assert_allclose(one.influence, two.influence, rtol=1e-9, atol=1e-9)


def test_repeats_are_means_of_runs_with_their_seeds():
    many = uids.run(repeats=3, seed=5, split={"seed": 1}).metrics["subset"]
    alone = [
        uids.run(repeats=1, seed=seed, split={"seed": 1}).metrics["subset"] for seed in (5, 6, 7)
    ]
    assert [repeat["seed"] for repeat in many["repeats"]] == [5, 6, 7]
    for name in ("logloss", "accuracy"):
        values = [each["test"][name] for each in alone]
        assert many["test"][name] == pytest.approx(np.mean(values), rel=1e-6)
        assert [repeat["test"][name] for repeat in many["repeats"]] == pytest.approx(values, 1e-6)


def test_a_sampler_without_chance_is_drawn_once():
    assert len(uids.run(sampler="dropout", repeats=5).metrics["subset"]["repeats"]) == 1


def test_a_ratio_of_one_keeps_everything():
    metrics = uids.run(ratio=1.0, repeats=1).metrics
    assert metrics["subset"]["size"] == metrics["dataset"]["rows"]["train"]
    assert metrics["subset"]["gamma"] < 1e-12
    assert metrics["subset"]["test"]["logloss"] == pytest.approx(
        metrics["full"]["test"]["logloss"], rel=1e-7
    )


def test_weights_need_to_know_the_inclusion_probability():
    with pytest.raises(uids.UidsError, match="draw=rounds does not know: use draw=exact"):
        uids.run(sampler="optimal", draw="rounds")


def test_the_metrics_say_how_well_flipped_labels_are_found():
    result = uids.run(noise=0.3, sampler="dropout", ratio=0.7)
    found = result.metrics["noise"]
    worst = np.argsort(-result.influence)[:85]
    assert found["flipped"] == result.flipped.sum() == 85
    assert found["precision"] == found["recall"] == result.flipped[worst].mean()
    pairs = result.influence[result.flipped][:, None] > result.influence[~result.flipped]
    assert found["auc"] == pytest.approx(pairs.mean())
    assert uids.run(repeats=1).metrics["noise"] is None


def test_the_metrics_have_the_gradient_bound():
    result = uids.run(sampler="sigmoid", repeats=1)
    bound = result.metrics["sampling"]["gradient_bound"]
    order = np.argsort(result.influence)
    steps = np.abs(np.diff(result.probability[order]) / np.diff(result.influence[order]))
    assert bound == pytest.approx(10 / 4 / np.ptp(result.influence))
    assert steps.max() <= bound * (1 + 1e-9)
    assert uids.run(sampler="random", repeats=1).metrics["sampling"]["gradient_bound"] == 0
    linear = uids.run(sampler="linear", repeats=1)
    assert linear.metrics["sampling"]["gradient_bound"] == 1 / np.abs(linear.influence).max()
    assert uids.run(sampler="dropout").metrics["sampling"]["gradient_bound"] is None


def test_no_test_rows():
    metrics = uids.run(split={"test": 0}, repeats=1).metrics
    assert metrics["full"]["test"] is None
    assert metrics["subset"]["test"] is None
    assert metrics["dataset"]["rows"]["test"] == 0


def test_the_result_names_rows_of_the_source():
    result = uids.run(repeats=2)
    source = uids.REGISTRIES["dataset"].build("breast_cancer").load()
    np.testing.assert_array_equal(result.label, source.y[result.row])
    assert result.kept.sum() == result.metrics["subset"]["repeats"][0]["size"]
    assert result.metrics["influence"]["maximum"] == result.influence.max()


def test_arrays_of_ones_own():
    X, y = Made().load()
    pair = uids.run((X, y), repeats=1)
    data = uids.run(uids.Data(X, y, test=(X[:20], y[:20])), repeats=1)
    assert pair.metrics["dataset"]["rows"]["train"] == 100
    assert data.metrics["dataset"]["rows"]["test"] == 20
    assert repr(pair).startswith("<uids.Result: Use the ")
    json.dumps(plain(pair.metrics))


@pytest.mark.parametrize("wrong", [3, {"name"}, TwoProducts()])
def test_what_is_no_component_is_refused(wrong):
    with pytest.raises(uids.UidsError, match="sampler must be a name, a dict such as"):
        uids.run(sampler=wrong)


def test_progress_is_told():
    steps = []
    uids.run(repeats=2, progress=lambda *step: steps.append(step))
    stages = list(dict.fromkeys(step[0] for step in steps))
    order = ["load", "fit", "influence", "choose", "sample", "refit", "evaluate"]
    assert sorted(stages, key=order.index) == order
    assert stages[:3] == order[:3]
    assert ("refit", 1, 2) in steps


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.array([0.5]), "gave probabilities of shape"),
        (np.full(284, 1.5), r"outside \[0, 1\]"),
        (np.full(284, np.nan), "gave probabilities of which 284 of 284 are not finite"),
    ],
)
def test_a_samplers_answer_is_checked(given, message):
    @dataclass(frozen=True)
    class Wrong:
        def probabilities(self, scores):
            return given

    with pytest.raises(uids.UidsError, match=message):
        uids.run(sampler=Wrong())


def test_public_names():
    for name in uids.__all__:
        assert getattr(uids, name) is not None
    assert "run" in dir(uids)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        uids.nothing  # noqa: B018
