"""The points of a sweep: composed together as Hydra would one by one, batches, and short pages."""

import json
import os
import random
from pathlib import Path

import pytest
import yaml
from hydra.types import RunMode
from omegaconf import OmegaConf

from uids.app.build import plain_config
from uids.app.compose import composing, load_trusted
from uids.app.hydra_source import register
from uids.app.sweep.batch import SET_BY_POINTS, Root, Todo, batches, in_order
from uids.app.sweep.family import Families
from uids.app.sweep.points import Point, plan

# Each is composed by Hydra too, which takes a tenth of a second. UIDS_POINTS=1000 is a long look.
POINTS = int(os.environ.get("UIDS_POINTS", "120"))

OWN = """# @package _global_
defaults:
  - override /sampler: linear
noise: ${ratio}
split:
  test: 0.2
"""
CHOICES = {
    "sampler": ["sigmoid", "linear", "random", "mine"],
    "experiment": ["null", "own"],
    "model": ["logreg"],
    "dataset": ["breast_cancer", "wine"],
}
VALUES = {
    "sampler.alpha": ["1", "2.5", "5", "abc", "-1"],
    "sampler.name": ["sigmoid", "random"],
    "ratio": ["0.5", "1", "auto", "'0.5'", "null", "${noise}"],
    "noise": ["0", "0.25", "1e-1", "${split.test}"],
    "seed": ["0", "3", "4.5", "true"],
    "cache": ["true", "false", "0"],
    "model.C": ["1", "10.0", "auto"],
    "split.test": ["0.1", "20", "0"],
    "split": ["{test:0.3}", "{validation:0.3}"],
    "split.kind": ["random", "sequential", '"a, b"', "???"],
    "choose.ratios": ["[0.5,0.9]", "[0.7]"],
    "report": ["always", "never"],
    "sweep.reasons": ["true", "false"],
    "sampler.alfa": ["1"],
    "+sampler.beta": ["1"],
}


@pytest.fixture
def composer(tmp_path, monkeypatch):
    """(loader, config) of a sweep in a folder of configs."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "experiment/own.yaml": OWN,
        "sampler/mine.yaml": "defaults: [sigmoid, _self_]\nalpha: ${ratio}\n",
    }.items():
        path = tmp_path / "conf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    register()
    with composing() as loader:
        words = [f'hydra.searchpath=["own://{tmp_path / "conf"}"]']
        yield loader, load_trusted(loader, words, RunMode.MULTIRUN)


def random_point(chance):
    """Some words, in any order."""
    some = {**CHOICES, **VALUES}
    keys = chance.sample([*CHOICES], 2) + chance.sample([*VALUES], chance.randint(1, 4))
    chance.shuffle(keys)
    return tuple(f"{key}={chance.choice(some[key])}" for key in keys)


def by_hydra(loader, config, overrides):
    """Its config in plain values, as it is and with references resolved; or that it has none."""
    try:
        composed = loader.load_sweep_config(config, list(overrides))
        keys = [str(key) for key in composed if key not in ("hydra", "reporter", "sweep")]
        return composed, plain_config(OmegaConf.masked_copy(composed, keys))
    except Exception as error:
        return None, type(error).__name__


def together(families, overrides):
    try:
        return families.plain(overrides)
    except Exception as error:
        return None, {}, type(error).__name__


def typed(value):
    """1, 1.0 and True apart."""
    if isinstance(value, dict):
        return {key: typed(child) for key, child in value.items()}
    if isinstance(value, list):
        return [typed(child) for child in value]
    return type(value).__name__, value


def test_every_config_is_what_hydra_would_have_made(composer):
    loader, config = composer
    chance, families, composed_once = random.Random(0), Families(loader, config), 0
    roots = {}
    base = ("sampler=sigmoid", "sampler.alpha={}", "ratio={}", "cache={}")
    some = [
        tuple(word.format(chance.choice(VALUES.get(word.partition("=")[0], [""]))) for word in base)
        for _ in range(POINTS // 2)
    ]
    for overrides in [*some, *(random_point(chance) for _ in range(POINTS // 2))]:
        whole, expected = by_hydra(loader, config, overrides)
        before = len(families.known)
        family, values, found = together(families, overrides)
        assert typed(found) == typed(expected), overrides
        if family is None:
            continue
        composed_once += len(families.known) == before
        root = roots.setdefault(family, Root(family))
        check_files(root, Todo(7, "name", overrides, {}, family, values), whole)
    assert composed_once > POINTS / 6  # most were not composed by Hydra


def check_files(root, todo, whole):
    """The rest of the config, Hydra's own included, and the text of the files: that of a family's
    next point too, of which only what changes is written anew."""
    hydra = root.of(todo, Path("/sweep")).hydra
    task, about = root.texts
    assert task.now(root.changed) == OmegaConf.to_yaml(
        OmegaConf.masked_copy(whole, [str(key) for key in whole if key != "hydra"])
    )
    assert about.now(SET_BY_POINTS) == OmegaConf.to_yaml(hydra)
    assert list(hydra.overrides.task) == list(whole.hydra.overrides.task)
    assert hydra.job.override_dirname == whole.hydra.job.override_dirname
    assert hydra.runtime.choices == whole.hydra.runtime.choices


def test_values_that_do_not_fit_are_told_as_hydra_tells_them(composer):
    loader, config = composer
    points = plan(loader, config, ["sampler=sigmoid", "sampler.alpha=1,abc,2,-1,3", "repeats=1"])
    assert [bool(point.reason) for point in points] == [False, True, False, True, False]
    assert "abc" in points[1].reason
    assert [point.config["sampler"]["alpha"] for point in points] == [1, "abc", 2, -1, 3]


def made(seed, C, alpha):
    config = {"dataset": {"name": "wine"}, "seed": seed, "model": {"C": C}, "alpha": alpha}
    return Point((f"seed={seed}", f"C={C}"), f"{seed} {C} {alpha}", config, family=object())


def test_points_of_one_fit_follow_each_other():
    points = [made(seed, C, alpha) for alpha in (1, 2) for C in (1, 10) for seed in (0, 1)]
    names = [todo.run for todo in in_order(points)]
    assert names == [
        *("0 1 1", "0 1 2", "0 10 1", "0 10 2"),
        *("1 1 1", "1 1 2", "1 10 1", "1 10 2"),
    ]


@pytest.mark.parametrize(
    ("launcher", "sizes"),
    [
        ({"name": "basic"}, [10]),
        ({"name": "joblib", "n_jobs": 1}, [3, 3, 3, 1]),
        ({"name": "joblib", "n_jobs": 2}, [2, 2, 2, 2, 2]),
        ({"name": "submitit_local"}, [4, 4, 2]),
        ({"name": "submitit_slurm", "array_parallelism": 1}, [3, 3, 3, 1]),
        ({"name": "submitit_slurm", "array_parallelism": 256}, [1] * 10),
        ({"name": "ray"}, [1] * 10),
    ],
    ids=str,
)
def test_a_batch_is_as_large_as_its_launcher_allows(launcher, sizes, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    todo = in_order([made(0, 1, alpha) for alpha in range(10)])
    choices = {"hydra/launcher": launcher["name"]}
    config = OmegaConf.create({"hydra": {"launcher": launcher, "runtime": {"choices": choices}}})
    found = batches(todo, config)
    assert [len(batch) for batch in found] == sizes
    assert [each.run for batch in found for each in batch] == [each.run for each in todo]


def test_pages_of_points_are_drawn_when_they_are_asked_for(cli, tmp_path):
    words = ("sampler=sigmoid", "sampler.alpha=1,5", "repeats=1")
    code, _, err = cli(*words, "-m")
    assert code == 0, err
    folder = tmp_path / "outputs" / "sweep"
    runs = sorted(path.parent for path in folder.glob("*/metrics.json"))
    assert len(runs) == 2
    for run in runs:
        page = (run / "report.html").read_text()
        assert "no charts yet" in page
        assert len(page) < 10_000
        assert not (run / "figures").exists()
        alpha = json.loads((run / "metrics.json").read_text())["config"]["sampler"]["alpha"]
        config, hydra, overrides = (
            yaml.safe_load((run / ".hydra" / f"{name}.yaml").read_text())
            for name in ("config", "hydra", "overrides")
        )
        assert config["sampler"]["alpha"] == alpha
        assert hydra["hydra"]["runtime"]["output_dir"] == str(run)
        assert f"sampler.alpha={alpha:g}" in overrides == hydra["hydra"]["overrides"]["task"]
        assert "done: " in (run / "uids.log").read_text()
    assert "have no charts until they are asked for" in (folder / "report.html").read_text()

    assert cli("report", runs[0])[0] == 0
    assert (runs[0] / "figures" / "influence.png").is_file()
    assert "no charts yet" not in (runs[0] / "report.html").read_text()

    # The key renames no folder, and one that is done stays done.
    code, out, _ = cli(*words, "report=always", "-m")
    assert "2 points, 2 of them done already" in out
    code, out, err = cli(*words, "report=always", "cache=false", "-m")
    assert code == 0, err
    assert sorted(path.parent for path in folder.glob("*/metrics.json")) == runs
    assert all((run / "figures" / "influence.png").is_file() for run in runs)


def test_without_pages_there_are_no_figures(cli, tmp_path):
    code, _, err = cli("repeats=1", "report=never", "hydra.run.dir=one")
    assert code == 0, err
    assert "no charts yet" in (tmp_path / "one" / "report.html").read_text()
    code, _, err = cli("repeats=1", "report=never", "seed=0", "hydra.sweep.dir=all", "-m")
    assert code == 0, err
    assert "no charts yet" in (tmp_path / "all" / "report.html").read_text()
    assert not list(tmp_path.rglob("*.png"))
    code, _, err = cli("report=sometimes", "hydra.run.dir=two")
    assert code == 1
    assert "unknown report 'sometimes'" in err
