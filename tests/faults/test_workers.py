"""Sweeps whose points run in processes of their own: these end with the sweep, whatever ends it."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from .conftest import LONG, ROWS, SEEDS, results, unfinished

pytest.importorskip("hydra_plugins.hydra_joblib_launcher")

PATIENCE = 120  # seconds that a machine under load may take; nothing is measured
WORDS = ("dataset=libsvm", "dataset.train=rows.svm", "seed=0,1,2,3,4,5", "repeats=1", "-m")
JOBLIB = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
STOPS = {
    "SIGTERM to the sweep": (signal.SIGTERM, False, 143),
    "SIGINT to all of its processes": (signal.SIGINT, True, 130),
    "SIGKILL of the sweep": (signal.SIGKILL, False, -9),
}


def members(group):
    """The processes of a group that have not ended."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return [row[2] for row in rows if row[0] == str(group) and not row[1].startswith("Z")]


def wait_until(holds):
    limit = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)


def default_interrupt():
    """Whatever the tests were started with: in the background it may be ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def sweep_in(folder, *words):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "uids", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # a group of its own, as a shell makes it
        preexec_fn=default_interrupt,
    )


@pytest.fixture(scope="module")
def expected(runner, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "rows.svm").write_text(ROWS)
    assert runner.run(folder, *WORDS).code == 0
    return results(folder)


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
@pytest.mark.skipif(not LONG, reason="by the clock, not by seeded moments: make soak does it")
@pytest.mark.parametrize("seed", range(max(1, SEEDS // 4)))
@pytest.mark.parametrize("stop", STOPS)
def test_workers_end_with_their_sweep(runner, work, expected, stop, seed, tally):
    number, to_all, code = STOPS[stop]
    folder, finished = work("sweep"), random.Random(f"{stop} {seed}").randint(2, 3)
    process = sweep_in(folder, *WORDS, *JOBLIB)
    wait_until(lambda: len(results_so_far(folder)) >= finished or process.poll() is not None)
    assert process.poll() is None, process.stdout.read()
    (os.killpg if to_all else os.kill)(process.pid, number)
    assert process.wait(PATIENCE) == code
    wait_until(lambda: not members(process.pid))
    shown = process.stdout.read()
    process.stdout.close()
    done = results(folder)  # nothing is written from here on
    assert finished <= len(done)
    assert done.items() <= expected.items()
    if number != signal.SIGKILL:
        assert "Traceback" not in shown
        assert f"{len(done)} of 6 runs done" in shown
        assert shown.endswith("start it again to continue where it left off\n")
        assert not unfinished(folder)
    again = runner.run(folder, *WORDS)
    assert again.code == 0, again.shown
    assert f"6 points, {len(done)} of them done already" in again.shown
    assert results(folder) == expected
    assert not unfinished(folder)
    tally(f"{stop}, points in parallel", "sweep")


def results_so_far(folder):
    return list(folder.glob("outputs/sweep/*/metrics.json"))


def test_workers_of_an_earlier_sweep_work_in_the_folder_of_this_one(cli, tmp_path, monkeypatch):
    """joblib keeps its processes for the next sweep of the same Python process."""
    found = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "rows.svm").write_text(ROWS if name == "first" else ROWS.replace("2:", "4:"))
        monkeypatch.chdir(folder)
        words = ("dataset=libsvm", "dataset.train=rows.svm", "seed=0,1", "repeats=1", *JOBLIB)
        code, _, err = cli(*words, "hydra.sweep.dir=here", "-m")
        assert code == 0, err
        found.append(results(folder))
        assert all(run.startswith("here/") for run in found[-1])
        assert len(found[-1]) == 2
    assert not found[0].keys() ^ found[1].keys()
    assert found[0] != found[1]  # of other data
