"""Reporters: who is told of a finished run or sweep, and that nothing is lost when that fails."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = """
import json
import os
from dataclasses import dataclass
from pathlib import Path

@dataclass(frozen=True)
class Notes:
    file: str = "told.jsonl"
    fails: bool = False

    def __post_init__(self):
        if not self.file:
            raise ValueError("file must not be empty")

    def note(self, **words):
        if self.fails:
            raise ConnectionError("nobody\\nthere")
        with open(self.file, "a") as file:
            file.write(json.dumps({**words, "process": os.getpid()}) + "\\n")

    def report(self, folder, metrics):
        same = json.loads((folder / "metrics.json").read_text()) == metrics
        self.note(run=str(folder), status=metrics["status"], error=metrics.get("error"), same=same)

    def report_sweep(self, folder, runs):
        there = all((folder / name).exists() for name in ("summary.csv", "report.html"))
        told = [[str(run), metrics["status"]] for run, metrics in runs]
        self.note(sweep=str(folder), runs=told, there=there)

@dataclass(frozen=True)
class Plain:
    def report(self, folder, metrics):
        (folder / "plain.txt").write_text(metrics["status"])
"""
QUICK = ("repeats=1", "ratio=0.9")


@pytest.fixture
def notes(entry_points, package, tmp_path):
    """The reporter ``notes``; what it has been told so far."""
    package("acme_notes", made=SOURCE)
    entry_points("reporter", "notes", "acme_notes.made:Notes")
    entry_points("reporter", "plain", "acme_notes.made:Plain")

    def told():
        file = tmp_path / "told.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    return told


def test_a_run_is_told_once_all_its_files_are_there(cli, notes):
    code, _, err = cli("reporter=notes", *QUICK, "hydra.run.dir=out")
    assert (code, err) == (0, "")
    (only,) = notes()
    assert (only["run"], only["status"], only["same"]) == (str(Path("out").absolute()), "ok", True)


def test_a_failed_run_is_told_with_its_reason(cli, notes):
    code, _, _ = cli("reporter=notes", "solver=cg", "solver.max_iter=1", "hydra.run.dir=out")
    (only,) = notes()
    assert code == 1
    assert only["status"] == "failed"
    assert "max_iter" in only["error"]


def test_a_sweep_is_told_point_by_point_and_as_a_whole(cli, notes, tmp_path):
    words = ("reporter=notes", *QUICK, "sampler=random,dropout", "-m")
    assert cli(*words)[0] == 0
    *points, whole = notes()
    runs = [str(path.parent) for path in (tmp_path / "outputs/sweep").glob("*/metrics.json")]
    assert sorted(point["run"] for point in points) == sorted(runs)
    assert whole["there"]
    assert sorted(whole["runs"]) == sorted([run, "ok"] for run in runs)
    # Continued, nothing is left to do: the whole is told again, with the points done before.
    assert cli(*words)[0] == 0
    assert len(notes()) == len(points) + 2
    assert notes()[-1]["runs"] == whole["runs"]


def test_who_is_told_decides_no_number_and_names_no_folder(cli, notes, tmp_path):
    assert cli(*QUICK, "sampler=random", "-m")[0] == 0
    code, out, _ = cli("reporter=notes", "reporter.file=told.jsonl", *QUICK, "sampler=random", "-m")
    assert code == 0
    assert "1 of them done already" in out
    (whole,) = notes()  # the point was done, and is told with the sweep
    assert len(whole["runs"]) == 1
    assert "reporter" not in json.loads((tmp_path / "outputs/sweep/sweep.json").read_text())


def test_a_reporter_that_fails_costs_one_line_that_names_its_package(cli, notes):
    code, out, err = cli("reporter=notes", "reporter.fails=true", *QUICK, "hydra.run.dir=out")
    assert code == 0
    assert err == (
        f"uids: not reported, but all files are in {Path('out').absolute()}: reporter 'notes' of "
        "package 'acme' 1.2 failed: ConnectionError: nobody there\n"
    )
    assert "logloss" in out
    assert json.loads(Path("out/metrics.json").read_text())["status"] == "ok"


def test_a_reporter_may_know_no_sweeps(cli, notes, tmp_path):
    code, _, err = cli("reporter=plain", *QUICK, "-m")
    assert (code, err) == (0, "")
    (written,) = (tmp_path / "outputs/sweep").glob("*/plain.txt")
    assert written.read_text() == "ok"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["reporter=note"], "unknown reporter 'note'. Did you mean 'notes'? Known: "),
        (["reporter=notes", "reporter.file=''"], "reporter 'notes': file must not be empty"),
        (["reporter=notes", "reporter.fil=x"], "unknown field of reporter 'notes': 'fil'."),
        (["reporter=notes,plain", "-m"], "reporter= is for the command line, and has one value"),
    ],
)
def test_a_wrong_reporter_is_refused_before_any_work(cli, notes, words, reason):
    code, _, err = cli(*words)
    assert code == 1
    assert err.startswith(f"uids: {reason}")
    assert not list(Path().rglob("influence.parquet"))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("experiment/own.yaml", "# @package _global_\nreporter: {file: x}", ["experiment=own"]),
        (
            "experiment/own.yaml",
            "# @package _global_\ndefaults: [{override /reporter: notes}]",
            ["experiment=own"],
        ),
        ("experiment/own.yaml", "# @package reporter\nfile: x", ["experiment=own"]),
        (
            "experiment/own.yaml",
            "# @package _global_\nhydra: {sweeper: {params: {reporter: notes}}}",
            ["experiment=own", "-m"],
        ),
        ("reporter/own.yaml", "defaults: [notes, _self_]\nfile: x", ["reporter=own"]),
    ],
    ids=["key", "defaults", "package", "axis", "preset"],
)
def test_no_config_file_has_results_sent_anywhere(cli, notes, tmp_path, name, text, words):
    file = tmp_path / "own" / name
    file.parent.mkdir(parents=True)
    file.write_text(text)
    code, _, err = cli("--config-dir", "own", *words, *QUICK)
    assert code == 1
    assert err.startswith("uids: ")
    assert "reporter" in err
    assert not notes()


def test_a_reporter_on_the_command_line_goes_with_a_config_folder(cli, notes, tmp_path):
    file = tmp_path / "own/experiment/own.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("# @package _global_\nratio: 0.9")
    words = ("--config-dir", "own", "experiment=own", "reporter=notes", "repeats=1")
    assert cli(*words)[0] == 0
    assert cli(*words, "-m")[0] == 0
    assert [set(told) & {"run", "sweep"} for told in notes()] == [{"run"}, {"run"}, {"sweep"}]


def test_nothing_of_jax_mlflow_or_dask_is_imported_by_a_run_without_them(tmp_path):
    """Though all are installed, perhaps."""
    code = (
        "import sys; from uids.app.cli import main; main(['repeats=1'])\n"
        "others = {'jax', 'mlflow', 'dask', 'distributed', 'fsspec'}\n"
        "others |= {'uids_backend_jax', 'uids_mlflow', 'uids_dask'}\n"
        "print(sorted(others & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
