"""Sweeps: planned, resumed, enlarged, uneven, partly failed, parallel, killed."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from uids.app.sweep.grid import applicable

FAST = "repeats=1"


def table(folder):
    with open(folder / "summary.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "outputs" / "sweep"


UNSEEN = """
from dataclasses import dataclass
from uids.datasets.public.breast_cancer import BreastCancer
@dataclass(frozen=True)
class Mine:
    def load(self):
        return BreastCancer().load()
"""


def test_a_data_set_that_cannot_tell_its_changes_is_told(cli, entry_points, package):
    package("acme", __init__=UNSEEN)
    entry_points("dataset", "mine", "acme:Mine")
    words = ("-m", "dataset=mine", FAST)
    code, out, err = cli(*words)
    assert (code, "fingerprint" in out) == (0, False), err
    _, out, _ = cli(*words)
    says = "dataset 'mine' of package 'acme' 1.2 has no fingerprint(): that its files have changed"
    assert out.count(says) == 1


def stamps(folder):
    return {path.parent.name: path.stat().st_mtime_ns for path in folder.glob("*/metrics.json")}


def test_a_sweep_is_one_table_and_is_not_done_twice(cli, folder):
    words = ("sampler=sigmoid", "sampler.alpha=1,5", "ratio=0.8,0.95", FAST)
    code, out, err = cli(*words, "-m")
    assert code == 0, err
    assert "4 points, in outputs/sweep" in out
    assert out.count("done: ") == 4
    assert "4 of 4 runs done" in out
    lines = table(folder)
    assert [(line["sampler.alpha"], line["ratio"]) for line in lines] == [
        ("1.0", "0.8"),
        ("1.0", "0.95"),
        ("5.0", "0.8"),
        ("5.0", "0.95"),
    ]
    assert all(line["status"] == "ok" for line in lines)
    before = stamps(folder)
    assert len(before) == 4
    assert (folder / "report.html").exists()
    assert not list(folder.glob("*/reasons.json"))

    code, out, _ = cli("-m", *words)
    assert (code, out.count("done: ")) == (0, 0)
    assert stamps(folder) == before

    # Enlarging does only the new points.
    words = ("sampler=sigmoid", "sampler.alpha=1,5,10", "ratio=0.8,0.95", FAST)
    code, out, _ = cli(*words, "--multirun")
    assert "6 points, 4 of them done already" in out
    assert out.count("done: ") == 2
    assert len(table(folder)) == 6
    assert before.items() <= stamps(folder).items()

    # The table is that of the last command; older runs stay.
    cli("sampler=sigmoid", "sampler.alpha=1,10", "ratio=0.8", FAST, "-m")
    assert len(table(folder)) == 2
    assert len(stamps(folder)) == 6

    # cache=false computes again.
    code, out, _ = cli("sampler=sigmoid", "sampler.alpha=1", "ratio=0.8", FAST, "cache=false", "-m")
    assert out.count("done: ") == 1
    assert len(stamps(folder)) == 6


def test_the_points_of_a_sweep_have_reasons_if_they_are_asked_for(cli, folder):
    code, _, err = cli("seed=0,1", FAST, "sweep.reasons=true", "-m")
    assert code == 0, err
    assert len(list(folder.glob("*/reasons.json"))) == 2


def test_the_table_is_rebuilt_from_the_files(cli, folder):
    cli("seed=0,1", FAST, "-m")
    before = [(folder / name).read_text() for name in ("summary.csv", "summary.md", "report.html")]
    for name in ("summary.csv", "summary.md", "report.html"):
        (folder / name).unlink()
    code, out, _ = cli("report", folder)
    assert code == 0
    assert "2 of 2 runs done" in out
    after = [(folder / name).read_text() for name in ("summary.csv", "summary.md", "report.html")]
    assert before == after
    (folder / "sweep.json").unlink()  # without a plan: every run in the folder
    assert cli("report", folder)[0] == 0
    assert len(table(folder)) == 2
    (folder / "sweep.json").write_text("{")
    code, _, err = cli("report", folder)
    assert code == 1
    assert "is damaged" in err


def test_runs_with_and_without_test_rows_in_one_table(cli, folder):
    code, out, err = cli("split.test=0,0.3", FAST, "-m")
    assert code == 0, err
    assert "validation logloss: full" in out
    assert table(folder)[0]["full_test_logloss"] == ""


def test_an_uneven_grid(cli, folder):
    code, _, err = cli("sampler=sigmoid,random", "sampler.alpha=1,5", FAST, "-m")
    assert code == 0, err
    assert [(line["sampler"], line["sampler.alpha"]) for line in table(folder)] == [
        ("sigmoid", "1.0"),
        ("sigmoid", "5.0"),
        ("random", ""),
    ]


def test_a_failed_point_stands_in_the_table_and_the_others_go_on(cli, folder):
    code, out, err = cli("sampler=sigmoid,random,sigmod", "sampler.alpha=5,-1", FAST, "-m")
    assert code == 1
    assert "failed: sampler=sigmoid sampler.alpha=-1 repeats=1: sampler 'sigmoid': alpha" in err
    assert out.count("done: ") == 2
    assert "2 of 4 runs done" in out
    reasons = [(line["sampler"], line["status"], line["error"]) for line in table(folder)]
    assert reasons[0] == ("sigmoid", "ok", "")
    assert reasons[1][:2] == ("sigmoid", "failed")
    assert "must be positive" in reasons[1][2]
    assert reasons[2] == ("random", "ok", "")
    assert reasons[3][:2] == ("sigmod", "failed")
    assert "Did you mean 'sigmoid'" in (folder / "summary.md").read_text()


def test_a_point_that_fails_while_running(cli, folder, entry_points, tmp_path, monkeypatch):
    (tmp_path / "acme_moody.py").write_text(
        "from dataclasses import dataclass\nimport numpy as np\n@dataclass\nclass Moody:\n"
        "    good: bool = True\n    def probabilities(self, scores):\n"
        "        if not self.good: raise RuntimeError('not today')\n"
        "        return np.ones(len(scores.phi))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry_points("sampler", "moody", "acme_moody:Moody")
    code, out, err = cli("sampler=moody", "sampler.good=false,true", FAST, "-m")
    assert code == 1
    reason = "sampler 'moody' of package 'acme' 1.2 failed: RuntimeError: not today"
    assert err == f"failed: sampler=moody sampler.good=False repeats=1: {reason}\n"
    assert [line["status"] for line in table(folder)] == ["failed", "ok"]
    # A failure is tried again, a success is not.
    code, out, _ = cli("sampler=moody", "sampler.good=false,true", FAST, "-m")
    assert (code, out.count("done: ")) == (1, 0)


def test_when_no_point_can_run_nothing_does(cli, tmp_path):
    code, _, err = cli("sampler.alfa=1,2", "-m")
    assert code == 1
    assert err.startswith("uids: unknown field of sampler 'sigmoid': 'alfa'")
    assert not (tmp_path / "outputs").exists()
    code, _, err = cli("ratio=interval(0,1)", "-m")
    assert code == 1
    assert "a sweep takes values" in err
    for words in (["seed=range(1000000000)"], ["seed=range(1000)", "ratio=range(0.1,0.9,0.001)"]):
        code, _, err = cli(*words, "-m")
        assert code == 1
        assert "a sweep of more than 100,000 points: take fewer values of seed" in err


def test_the_parallel_launcher(cli, folder):
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    launcher = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    code, _, err = cli("seed=0,1,2", FAST, *launcher, "-m")
    assert code == 0, err
    assert [line["status"] for line in table(folder)] == ["ok"] * 3
    parallel = [line["subset_test_logloss"] for line in table(folder)]
    cli("seed=0,1,2", FAST, "cache=false", "-m")
    assert [line["subset_test_logloss"] for line in table(folder)] == parallel


def test_another_sweeper_of_hydra_still_works(cli, tmp_path):
    code, _, err = cli("hydra/sweeper=basic", "seed=0,1", FAST, "hydra.sweep.dir=plain", "-m")
    assert code == 0, err
    assert len(list(tmp_path.glob("plain/*/metrics.json"))) == 2
    words = ("hydra/sweeper=basic", "sampler.alpha=-1,-2", "hydra.sweep.dir=bad", "-m")
    assert cli(*words)[0] == 1


def test_a_killed_sweep_goes_on_where_it_was(tmp_path):
    folder = tmp_path / "outputs" / "sweep"
    words = [sys.executable, "-m", "uids", "seed=0,1,2,3,4,5", FAST, "-m"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    for line in process.stdout:
        if line.startswith("done: "):
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    done = stamps(folder)
    assert 1 <= len(done) < 6
    assert not (folder / "summary.csv").exists()
    time.sleep(0.01)
    again = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert f"6 points, {len(done)} of them done already" in again.stdout
    assert again.stdout.count("done: ") == 6 - len(done)
    assert done.items() <= stamps(folder).items()
    assert [line["status"] for line in table(folder)] == ["ok"] * 6
    # Nothing half-written is left where results are read.
    for path in folder.glob("*/metrics.json"):
        assert json.loads(path.read_text())["status"] == "ok"


@pytest.fixture
def stale(cli, folder):
    """Whether a sweep that is there already computes its one point again, in the same folder."""

    def look(*words):
        names = set(stamps(folder))
        code, out, err = cli(*words, FAST, "-m")
        assert code == 0, err
        assert set(stamps(folder)) == names or not names
        again = out.count("done: ") == 1
        assert ("has changed: 1 point\n" in out) is bool(names and again)
        return again

    return look


def test_a_plugin_that_is_edited_is_run_again(stale, entry_points, tmp_path, monkeypatch):
    package = tmp_path / "acme_edited"
    package.mkdir()
    (package / "__init__.py").write_text("from acme_edited._sampler import Edited\n")
    (package / "_share.py").write_text("SHARE = 1.0\n")
    (package / "_sampler.py").write_text(
        "from dataclasses import dataclass\nimport numpy as np\n"
        "from acme_edited._share import SHARE\n@dataclass\nclass Edited:\n"
        "    def probabilities(self, scores):\n        return np.full(len(scores.phi), SHARE)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry_points("sampler", "edited", "acme_edited:Edited")
    assert stale("sampler=edited")
    assert not stale("sampler=edited")
    (package / "_share.py").write_text("SHARE = 0.5\n")
    assert stale("sampler=edited")
    assert not stale("sampler=edited")


def test_a_data_file_that_is_edited_is_read_again(stale, tmp_path):
    lines = [f"{i % 7},{i % 5},{int(i % 3 == 0)}" for i in range(80)]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(["a,b,y", *lines]))
    words = ("dataset=csv", f"dataset.train={file}", "dataset.target=y")
    assert stale(*words)
    assert not stale(*words)
    file.write_text("\n".join(["a,b,y", *lines, "1,1,1"]))
    assert stale(*words)
    assert not stale(*words)


def test_a_data_set_that_is_downloaded_is_read_once(stale, entry_points, tmp_path, monkeypatch):
    (tmp_path / "acme_far.py").write_text(
        "from dataclasses import dataclass\nfrom pathlib import Path\nimport numpy as np\n"
        "@dataclass\nclass Far:\n    @classmethod\n    def here(cls):\n"
        "        return Path('far.txt').is_file()\n    def fingerprint(self):\n"
        "        return Path('far.txt').read_text() if self.here() else None\n"
        "    def load(self):\n        Path('far.txt').write_text('here')\n"
        "        y = np.arange(80) % 2\n"
        "        return np.stack([y + np.sin(np.arange(80)), np.cos(np.arange(80))], 1), y\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry_points("dataset", "far", "acme_far:Far")
    assert stale("dataset=far")
    assert not stale("dataset=far")
    (tmp_path / "far.txt").write_text("another")
    assert stale("dataset=far")


def test_results_of_older_code_are_computed_again(stale, monkeypatch):
    assert stale()
    with monkeypatch.context() as patch:
        patch.setattr("uids.pipeline.identity.source_digest", lambda rooms: "older")
        assert stale()
        assert not stale()
    assert stale()


def test_what_changes_no_number_is_not_run_again(stale):
    assert stale()
    assert not stale("download=false")
    assert not stale("ratio=0.95", "split.test=0.3", "sweep.report=points")


def test_fields_are_dropped_only_where_a_rival_has_them():
    fields = {"sampler=sigmoid": {"name", "alpha"}, "sampler=random": {"name"}}
    point = ["sampler=random", "sampler.alpha=1", "ratio=0.5"]
    assert applicable(point, fields) == ["sampler=random", "ratio=0.5"]
    assert applicable(["sampler=sigmoid", "sampler.alpha=1"], fields) == [
        "sampler=sigmoid",
        "sampler.alpha=1",
    ]
    typo = ["sampler=random", "sampler.alfa=1"]
    assert applicable(typo, fields) == typo
    assert applicable(["sampler.alpha=1"], {}) == ["sampler.alpha=1"]


@pytest.mark.parametrize("name", ["4573395e3649", "000000000012", "1_000_000"])
def test_a_name_that_reads_as_a_number_stays_as_it_is(cli, folder, monkeypatch, name):
    monkeypatch.setattr("uids.app.sweep.points.run_name", lambda *_: name)
    code, _, err = cli("seed=0", FAST, "-m")
    assert code == 0, err
    assert [path.parent.name for path in folder.glob("*/metrics.json")] == [name]


def test_pages_of_what_is_done_already_follow_the_key_report(cli, folder):
    words = ("sampler=sigmoid", "sampler.alpha=1,5", FAST, "-m")

    def charts():
        return len(list(folder.glob("*/figures/*.png")))

    def page():
        return (folder / "report.html").read_text(encoding="utf-8")

    assert cli(*words, "report=never")[0] == 0
    before = stamps(folder)
    assert "<section id=files>" not in page()
    assert "no charts yet" in page()
    code, out, err = cli(*words, "report=sweep")
    assert (code, out.count("done: ")) == (0, 0), err
    assert "<section id=files>" in page()
    assert "uids report RUN" in page()
    assert charts() == 0
    assert cli(*words, "report=always")[0] == 0
    assert charts() > 1
    assert "uids report RUN" not in page()
    assert cli(*words, "report=never")[0] == 0
    assert "<section id=files>" not in page()
    assert stamps(folder) == before


def test_what_a_failed_point_left_open_is_not_taken_for_swept(cli, folder):
    assert cli("ratio=0.8,1.5", FAST, "-m")[0] == 1
    head = (folder / "summary.md").read_text(encoding="utf-8").splitlines()
    columns = next(line for line in head if line.startswith("|"))
    assert "ratio" in columns
    assert "stratify" not in columns
