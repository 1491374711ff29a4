"""By runs of uids into a store in a file, read with MLflow's own client."""

import json
from pathlib import Path

import pytest

mlflow = pytest.importorskip("mlflow", reason="mlflow-skinny is not installed")
pytest.importorskip("sqlalchemy", reason="a store in a file needs sqlalchemy")
cli = pytest.importorskip("uids.app.cli", reason="uids is not installed")

from uids_mlflow import MLflow
from uids_mlflow.words import numbers, parameters

QUICK = ("reporter=mlflow", "repeats=1", "dataset=wine")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One folder, and so one store, for all: to make one takes seconds."""
    return tmp_path_factory.mktemp("place")


@pytest.fixture
def run_uids(place, monkeypatch, capsys):
    """A command in that folder: (exit code, stderr)."""
    from hydra.core.global_hydra import GlobalHydra

    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)

    def call(*words):
        GlobalHydra.instance().clear()
        capsys.readouterr()
        return cli.main([*QUICK, *words]), capsys.readouterr().err

    return call


def reported(place, experiment):
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{place / 'mlflow.db'}")
    found = client.get_experiment_by_name(experiment)
    return client, client.search_runs([found.experiment_id])


def test_a_run_has_its_parameters_metrics_and_files(run_uids, place):
    words = ("sampler=linear", "ratio=0.8", "hydra.run.dir=out", "reporter.experiment=one")
    assert run_uids(*words) == (0, "")
    client, (run,) = reported(place, "one")
    told = json.loads((place / "out/metrics.json").read_text())
    assert run.info.status == "FINISHED"
    assert run.data.params["sampler"] == "linear"
    assert run.data.params["ratio"] == "0.8"
    assert run.data.params["model.C"] == str(told["config"]["model"]["C"])
    assert run.data.metrics["full/test/logloss"] == told["full"]["test"]["logloss"]
    assert run.data.metrics["subset/size"] == told["subset"]["size"]
    assert run.data.tags["mlflow.note.content"] == told["conclusion"]["sentence"]
    kept = {file.path for file in client.list_artifacts(run.info.run_id)}
    assert kept == {"report.html", "metrics.json", "subset.csv", "figures"}
    subset = client.download_artifacts(run.info.run_id, "subset.csv", str(place))
    assert Path(subset).read_text() == (place / "out/subset.csv").read_text()
    assert client.list_artifacts(run.info.run_id, "figures")
    # Told again, as by a sweep that is continued, it is there but once.
    MLflow(experiment="one").report(place / "out", told)
    assert len(reported(place, "one")[1]) == 1


@pytest.mark.parametrize("launcher", [(), ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")])
def test_a_sweep_is_a_run_with_its_points_below_it(run_uids, place, launcher):
    if launcher:
        pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="uids[parallel]")
    name = "parallel" if launcher else "serial"
    words = (f"hydra.sweep.dir={name}", f"reporter.experiment={name}", *launcher, "-m")
    assert run_uids("ratio=0.8,0.9", "reporter.artifacts=false", *words) == (0, "")
    client, runs = reported(place, name)
    (parent,) = (run for run in runs if "mlflow.parentRunId" not in run.data.tags)
    points = [run for run in runs if run is not parent]
    assert {run.data.params["ratio"] for run in points} == {"0.8", "0.9"}
    assert {run.data.tags["mlflow.parentRunId"] for run in points} == {parent.info.run_id}
    assert parent.data.metrics == {"runs": 2.0, "failed": 0.0}
    assert client.list_artifacts(points[0].info.run_id) == []
    if launcher:
        return
    # Enlarged by a point that fails: one more child, the same parent, now with its files.
    assert run_uids("ratio=0.8,0.9,2", *words)[0] == 1
    client, runs = reported(place, name)
    assert len(runs) == 4
    (failed,) = (run for run in runs if run.info.status == "FAILED")
    assert "ratio" in failed.data.tags["uids.error"]
    assert failed.data.tags["mlflow.parentRunId"] == parent.info.run_id
    kept = {file.path for file in client.list_artifacts(parent.info.run_id)}
    assert kept >= {"report.html", "summary.csv", "summary.md"}


def test_a_store_that_cannot_be_used_loses_nothing(run_uids, place):
    uri = f"sqlite:///{place / 'nowhere' / 'x.db'}"
    (place / "nowhere").write_text("a file, no folder")
    code, err = run_uids(f"reporter.tracking_uri={uri}", "hydra.run.dir=lost")
    assert code == 0
    assert "reporter 'mlflow' of package 'uids-mlflow'" in err
    assert (place / "lost/report.html").is_file()


def test_what_is_no_number_is_no_metric():
    metrics = {"full": {"a": 1, "b": None, "c": True, "d": float("nan")}, "config": {"seed": 3}}
    assert numbers(metrics) == {"full/a": 1.0}
    assert parameters(metrics) == {"seed": "3"}


def test_an_empty_experiment_is_refused():
    with pytest.raises(ValueError, match="experiment must not be empty"):
        MLflow(experiment=" ")
