"""Sweeps through the launchers of schedulers: the same table, failures where they belong, and each
goes on where another was."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE = 120  # seconds that a machine under load may take; nothing is measured
MODULES = {"submitit_local": "hydra_submitit_launcher", "ray": "hydra_ray_launcher"}
ROWS = "".join(f"{i % 2} 1:{i % 7} 2:{i * i % 11} 3:{i % 3}\n" for i in range(200))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.svm").write_text(ROWS)
    (tmp_path / "bad.svm").write_text("1 1:x\n")
    return tmp_path


def needs(launcher):
    pytest.importorskip(f"hydra_plugins.{MODULES[launcher]}")


def start(folder, *words):
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    command = [sys.executable, "-m", "uids", "dataset=libsvm", "report=never", *words, "-m"]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(process):
    shown, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, shown


def table(folder):
    with open(folder / "outputs" / "sweep" / "summary.csv", newline="") as file:
        return list(csv.DictReader(file))


def results(folder):
    """When each result was written."""
    found = (folder / "outputs" / "sweep").glob("*/metrics.json")
    return {path.parent.name: path.stat().st_mtime_ns for path in found}


@pytest.mark.parametrize("launcher", MODULES)
def test_a_launcher_gives_the_same_table_and_a_failure_stays_with_its_point(launcher, folder):
    needs(launcher)
    words = ("dataset.train=rows.svm,bad.svm", "seed=0,1", "repeats=1")
    code, shown = finish(start(folder, *words, f"hydra/launcher={launcher}"))
    assert code == 1, shown
    assert "2 of 4 runs done" in shown
    found = table(folder)
    assert sorted(line["status"] for line in found) == ["failed", "failed", "ok", "ok"]
    assert all("not LIBSVM text" in line["error"] for line in found if line["status"] == "failed")
    assert list((folder / "cache" / "uids" / "fits").glob("*.npz"))  # shared by the processes
    here = Path(start_here(folder, *words))
    keys = ("seed", "status", "subset_test_logloss", "full_test_logloss")
    assert [[line[key] for key in keys] for line in found] == [
        [line[key] for key in keys] for line in table(here)
    ]


def start_here(folder, *words):
    """The same in the sweep's own process, in a folder and a cache of its own."""
    other = folder / "here"
    other.mkdir()
    for name in ("rows.svm", "bad.svm"):
        (other / name).write_bytes((folder / name).read_bytes())
    code, shown = finish(start(other, *words))
    assert code == 1, shown
    return other


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
@pytest.mark.parametrize("launcher", ["submitit_local"])
def test_what_joblib_began_and_was_killed_another_launcher_finishes(launcher, folder):
    needs(launcher)
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    words = ("dataset.train=rows.svm", "seed=0,1,2,3,4,5", "repeats=20")
    process = start(folder, *words, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    wait_until(lambda: results(folder) or process.poll() is not None)
    os.killpg(process.pid, signal.SIGKILL)
    shown, _ = process.communicate(timeout=PATIENCE)
    done = results(folder)
    assert done, shown
    code, shown = finish(start(folder, *words, f"hydra/launcher={launcher}"))
    assert code == 0, shown
    assert f"6 points, {len(done)} of them done already" in shown
    assert done.items() <= results(folder).items()
    assert [line["status"] for line in table(folder)] == ["ok"] * 6


def wait_until(holds):
    limit = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)
