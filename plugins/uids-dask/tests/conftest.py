"""One cluster of two worker processes for all tests, which leaves nothing in this process: rows
come here only where a test fetches them."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("distributed", reason="dask is not installed")

from sklearn.datasets import dump_svmlight_file
from uids_dask import Dask
from uids_dask.cluster import close_all

LONGEST = 60  # seconds that anything here may take to begin or to end
FILES = 5  # of training rows, so that the two workers have two and three


@pytest.fixture(scope="session")
def backend():
    chosen = Dask(workers=2, small=0)
    chosen.cluster()
    yield chosen
    close_all()


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """(form, classes) ↦ the folder with part-*.txt, all.txt and validation.txt."""
    made = {}

    def write(form, classes=2, n=500):
        if (form, classes, n) not in made:
            folder = tmp_path_factory.mktemp(form)
            for name, rows, seed in (("all", n, 1), ("validation", 150, 2)):
                X, y = problem(form, classes, rows, seed)
                dump_svmlight_file(X, y, str(folder / f"{name}.txt"), zero_based=False)
            lines = (folder / "all.txt").read_bytes().splitlines(keepends=True)
            cuts = np.linspace(0, n, FILES + 1).astype(int)
            for i in range(FILES):
                part = b"".join(lines[cuts[i] : cuts[i + 1]])
                (folder / f"part-{i}.txt").write_bytes(part)
            made[form, classes, n] = folder
        return made[form, classes, n]

    return write


def problem(form, classes, n, seed):
    """Sparse rows are wide enough for conjugate gradients, dense ones are factorised."""
    rng = np.random.default_rng(seed)
    d = 8 if form == "dense" else 300
    X = (
        rng.normal(size=(n, d))
        if form == "dense"
        else rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.04)
    )
    X = (X != 0) * 1.0 if form == "ones" else X
    theta = np.random.default_rng(0).normal(size=(d, classes))
    y = (X @ theta + rng.gumbel(size=(n, classes))).argmax(axis=1)
    return sp.csr_matrix(X), y


@pytest.fixture
def strangers(tmp_path):
    """A scheduler and a worker that nobody here has started."""
    return partial(processes, tmp_path)


@contextmanager
def processes(folder, *options, port=0):
    """(address, scheduler) of processes of their own; ``options`` of both."""
    place = folder / "scheduler.json"
    place.unlink(missing_ok=True)
    cli, quiet = "distributed.cli.dask_", ["--no-dashboard", "--scheduler-file", str(place)]
    both = [*quiet, *map(str, options)]
    scheduler = subprocess.Popen(
        [
            sys.executable,
            "-m",
            f"{cli}scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            *both,
        ],
        stderr=subprocess.DEVNULL,
    )
    worker = subprocess.Popen(
        [sys.executable, "-m", f"{cli}worker", "--no-nanny", "--nthreads", "1", *both],
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + LONGEST
        while not place.exists() and time.monotonic() < until:
            time.sleep(0.05)
        yield json.loads(place.read_text())["address"], scheduler
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait(LONGEST)
