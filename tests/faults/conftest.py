"""What the tests of faults share: commands with a fault, and what must hold afterwards."""

import json
import os
import random

import pyarrow.parquet as pq
import pytest

# Seeded moments of each kind of fault. UIDS_FAULTS=40 tries that many, for a long look.
SEEDS = int(os.environ.get("UIDS_FAULTS", "2"))
LONG = "UIDS_FAULTS" in os.environ
# The keys of metrics.json that are of the moment, or of the place in which the data files lie.
OF_THE_MOMENT = ("seconds", "environment", "cache", "command", "identity")

ROWS = "".join(f"{i % 2} 1:{i % 7} 2:{(i * i) % 5 - i % 2} 3:{i % 3}\n" for i in range(60))
TABLE = "a,b,y\n" + "".join(f"{i % 7},{'uvw'[i % 3]},{int(i % 5 > 2)}\n" for i in range(60))
COMMANDS = {
    "run": ("repeats=1", "hydra.run.dir=out"),
    "parse libsvm": ("dataset=libsvm", "dataset.train=rows.svm", "repeats=1", "hydra.run.dir=out"),
    "parse csv": ("dataset=csv", "dataset.train=rows.csv", "repeats=1", "hydra.run.dir=out"),
    "sweep": ("dataset=libsvm", "dataset.train=rows.svm", "seed=0,1", "repeats=1", "-m"),
}


@pytest.fixture(scope="session")
def runner():
    from faulted import Runner

    made = Runner()
    yield made
    made.close()


@pytest.fixture
def work(tmp_path):
    """Gives a folder with data files to run a command in, a new one each time."""

    def make(name):
        folder = tmp_path / str(name)
        folder.mkdir()
        (folder / "rows.svm").write_text(ROWS)
        (folder / "rows.csv").write_text(TABLE)
        return folder

    return make


@pytest.fixture(scope="session")
def undisturbed(runner, tmp_path_factory):
    """For each command its results, and how many moments it has."""
    known = {}

    def look(command):
        if command not in known:
            folder = tmp_path_factory.mktemp("undisturbed")
            (folder / "rows.svm").write_text(ROWS)
            (folder / "rows.csv").write_text(TABLE)
            ended = runner.run(folder, *COMMANDS[command])
            assert ended.code == 0, ended.shown
            assert ended.moments > 10
            known[command] = results(folder), ended.moments
        return known[command]

    return look


def moments(command, seed, count, total):
    """As many different moments of a command, seeded."""
    chance = random.Random(f"{command} {seed}")
    return sorted(chance.sample(range(1, total + 1), min(count, total)))


def numbers(metrics):
    """Without what is of the moment."""
    return {key: value for key, value in metrics.items() if key not in OF_THE_MOMENT}


def results(folder):
    """The finished runs below a folder, each whole: a file of them that cannot be read fails."""
    found = {}
    for path in sorted(folder.rglob("metrics.json")):
        metrics = json.loads(path.read_text())
        if metrics["status"] == "ok":
            rows = pq.read_table(path.parent / "influence.parquet").to_pydict()
            subset = (path.parent / "subset.csv").read_text()
            assert (path.parent / "report.html").read_text().rstrip().endswith("</html>")
            found[str(path.parent.relative_to(folder))] = numbers(metrics), rows, subset
    return found


def unfinished(folder):
    """What is being written, or was. Names that begin with a dot are for that alone."""
    hidden = [path for path in folder.rglob(".*") if path.name != ".hydra"]
    return [str(path.relative_to(folder)) for path in hidden]
