"""The same command gives the same numbers, and where only last digits differ, that is known.

As docs/reliability.md promises: ``subset.csv``, ``influence.parquet`` and all of ``metrics.json``
but what is of the moment are the same to the last bit, again, with and without the cache, and in
other processes. With another number of threads sums are taken in another order: then the subset is
the same, and numbers agree to DIGITS.
"""

import json
import random

import pyarrow.parquet as pq
import pytest
from threadpoolctl import threadpool_limits

# The keys of metrics.json that are of the moment; and those that tell how numbers were found.
OF_THE_MOMENT = ("seconds", "environment", "cache", "command")
HOW = ("config", "backend", "solver", "influence", "identity")
DIGITS = 1e-7  # relative, of every number: a solve stops at a residual, and not at the last digit

COMMANDS = {
    "dense": ("noise=0.2", "repeats=2"),
    "sparse, compiled": ("dataset=libsvm", "dataset.train=rows.svm", "backend=numba", "repeats=2"),
    "ratio=auto": ("dataset=libsvm", "dataset.train=rows.svm", "ratio=auto", "sampler=dropout"),
}
THREADS = {
    "numba": (
        *("dataset=libsvm", "dataset.train=rows.svm", "backend=numba", "solver=cg", "repeats=2"),
    ),
    "BLAS": ("backend=numpy", "solver=cg", "repeats=2"),
}


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch):
    chance = random.Random(0)
    lines = []
    for i in range(240):
        columns = [k for k in range(1, 9) if chance.random() < 0.6]
        values = [(k, round(chance.gauss(i % 2, 2), 3)) for k in columns]
        lines.append(" ".join([str(i % 2), *(f"{k}:{value}" for k, value in values)]))
    (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def files_of(folder, without=OF_THE_MOMENT):
    metrics = json.loads((folder / "metrics.json").read_text())
    del metrics["config"]["cache"]
    numbers = {key: value for key, value in metrics.items() if key not in without}
    table = pq.read_table(folder / "influence.parquet").to_pydict()
    return numbers, table, (folder / "subset.csv").read_bytes()


@pytest.fixture
def result(cli, tmp_path):
    """The files of one run of a command."""

    def run(*words, without=OF_THE_MOMENT):
        name = f"run{len(list(tmp_path.glob('run*')))}"
        code, _, err = cli(*words, f"hydra.run.dir={name}")
        assert code == 0, err
        return files_of(tmp_path / name, without)

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_again_and_with_and_without_the_cache(command, result, tally):
    words = COMMANDS[command]
    first, cached = result(*words), result(*words)
    assert first == cached
    assert result(*words, "cache=false") == first
    assert result(*words, "cache=false") == first
    tally("the same command again", "the same to the last bit", 3)


def test_in_other_processes(cli, tmp_path, tally):
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    # joblib gives each process its share of the cores, unless the number of threads is given.
    words = (*COMMANDS["sparse, compiled"], "backend.threads=2", "seed=0,1", "cache=false", "-m")
    assert cli(*words, "hydra.sweep.dir=serial")[0] == 0
    parallel = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    assert cli(*words, *parallel, "hydra.sweep.dir=parallel")[0] == 0
    names = [path.parent.name for path in (tmp_path / "serial").glob("*/metrics.json")]
    assert len(names) == 2
    for name in names:
        assert files_of(tmp_path / "serial" / name) == files_of(tmp_path / "parallel" / name)
    tally("the same sweep in parallel", "the same to the last bit", len(names))


def agree(one, other, where=""):
    """All numbers to DIGITS, everything else exactly."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            agree(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for k, pair in enumerate(zip(one, other, strict=True)):
            agree(*pair, f"{where}[{k}]")
    elif isinstance(one, float):
        assert other == pytest.approx(one, rel=DIGITS, abs=DIGITS), where
    elif isinstance(one, str) and any(letter.isdigit() for letter in one):
        pass  # a sentence with numbers in it
    else:
        assert one == other, where


@pytest.mark.parametrize("threads", THREADS)
def test_with_one_thread_and_with_two(threads, result, tally):
    words = (*THREADS[threads], "cache=false")
    found = []
    for count in (1, 2):
        more = (f"backend.threads={count}",) if threads == "numba" else ()
        with threadpool_limits(count, user_api="blas"):
            found.append(result(*words, *more, without=(*OF_THE_MOMENT, *HOW)))
    (one, one_table, one_subset), (two, two_table, two_subset) = found
    assert one_subset == two_subset
    agree(one, two)
    agree(one_table, two_table)
    tally("one thread and two", "the same subset")
