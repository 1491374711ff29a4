"""Which backend is taken, and whole runs with it."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from matrices import D, N, products, values
from problems import make_rows

import uids
import uids.backends.auto
import uids.system.compiled
from uids.backends import AdoptedBackend, adopt
from uids.backends import numba as module
from uids.backends.auto import Auto, choose
from uids.backends.numba import Numba
from uids.backends.numpy import Numpy
from uids.datasets.data import Data
from uids.datasets.settings import SplitSettings
from uids.datasets.split import split
from uids.errors import UidsError
from uids.models.logreg import LogisticRegression
from uids.pipeline.stages import rows_of
from uids.registry import REGISTRIES
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver
from uids.solvers.cg import CG
from uids.system.tuning import BackendChoice

pytestmark = pytest.mark.xdist_group("numba")


def test_parts_and_subsets_are_views():
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.standard_normal((150_000, 30)))
    y = (X @ np.ones(30) + rng.standard_normal(150_000) > 0).astype(int)
    shares = split(Data(X, y), SplitSettings(), 0.0, seed=0)
    size = X.data.nbytes + X.indices.nbytes
    products(Numba(threads=2).matrix(X).rows(np.arange(9)), ())  # compiles, which takes memory
    tracemalloc.start()
    backend = AdoptedBackend(REGISTRIES["backend"].choose(Numba(threads=2)))
    train, validation, test = rows_of(shares, backend)
    solver = adopt_solver(CG(on_failure="warn"))
    fitted = LogisticRegression().restore(np.zeros(31), train)
    found = influence_at(fitted.curvature(train), train, validation, solver)
    assert len(found.gradient_norm) == len(train)
    assert len(fitted.losses(train.take(np.arange(10_000)).take(np.arange(5000)))) == 5000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * size  # the parts and a subset as copies would be 1.1 times that
    assert all(
        rows.X.host.X is X and rows.X.whole is not None for rows in (train, validation, test)
    )


def leaves(metrics, skip=("seconds", "environment", "config", "backend", "cache", "solver")):
    if isinstance(metrics, dict):
        return {k: leaves(v) for k, v in metrics.items() if k not in skip}
    return [leaves(v) for v in metrics] if isinstance(metrics, list) else metrics


def assert_same(one, other, path=""):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list):
        for i, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{path}[{i}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-10, abs=1e-10), path
    else:
        assert one == other, path


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_run_is_the_same_with_numpy(sparse, classes):
    rows = make_rows(n=300, d=6, classes=classes, sparse=sparse)
    one, other = (
        uids.run(
            (rows.X.fetch(), rows.y),
            backend=backend,
            model=LogisticRegression(tol=1e-12),
            repeats=2,
        )
        for backend in (Numpy(), Numba(threads=2))
    )
    assert_same(leaves(one.metrics), leaves(other.metrics))
    np.testing.assert_allclose(one.influence, other.influence, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(one.kept, other.kept)
    assert one.metrics["backend"] == "numpy"
    assert other.metrics["backend"].startswith("numba: 2 threads, ")


def test_fits_are_cached_by_the_rows_of_a_view():
    rows = make_rows(n=200, sparse=True, seed=5)
    seen = [
        uids.run((rows.X.fetch(), rows.y), backend=Numba(), repeats=1, **more).metrics["cache"]
        for more in ({}, {}, {"split": {"seed": 1}}, {"noise": 0.1})
    ]
    assert seen == ["miss", "hit", "miss", "miss"]


def test_auto_takes_numba_for_large_matrices_only(monkeypatch):
    small = sp.csr_matrix(values())
    for X in (small, small.toarray()):
        backend, why = choose(X)
        assert backend == Numpy()
        assert "fewer than the" in why
        assert why == Auto().plan(X)
        assert Auto().matrix(X).note == "numpy"
        assert Auto().matrix(X).shape == X.shape
    tuning = BackendChoice(sparse_entries=small.nnz, dense_entries=N * D)
    for X in (small, small.toarray()):
        backend, why = choose(X, tuning)
        assert backend == Numba()
        assert "from which it is quicker" in why
        assert backend.matrix(X).rows(np.arange(3)).note.startswith("numba")
    above = BackendChoice(sparse_entries=small.nnz + 1, dense_entries=N * D + 1)
    assert choose(small, above)[0] == choose(small.toarray(), above)[0] == Numpy()
    monkeypatch.setattr(uids.backends.auto, "find_spec", lambda name: None)
    backend, why = choose(small, tuning)
    assert backend == Numpy()
    assert "not installed" in why


def test_auto_hands_large_data_to_numba():
    large = sp.csr_matrix(np.ones((2000, 1000)))
    matrix = adopt("auto", large)
    assert matrix.note.startswith("numba: ")
    assert matrix.rows(np.arange(3)).note == matrix.note
    assert Auto().plan(large).startswith("numba: 2,000,000 stored entries")


def test_small_data_do_not_load_numba():
    code = (
        "import sys, uids; m = uids.run(repeats=1, cache=False).metrics; "
        "print(m['backend'], m['config']['backend']['name'], 'numba' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["numpy", "auto", "False"]


def test_without_a_folder_to_write_to_nothing_is_cached(monkeypatch):
    def njit(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: (function, options["nogil"])

    monkeypatch.setattr(uids.system.compiled, "njit", njit)
    assert uids.system.compiled.compiled()(len) == (len, True)


@pytest.mark.parametrize("fields", [{"precision": "half"}, {"threads": 0}])
def test_fields_are_checked(fields):
    with pytest.raises(UidsError, match=f"{next(iter(fields))} must be"):
        REGISTRIES["backend"].build("numba", **fields)


def test_threads_default_to_those_of_numba(monkeypatch):
    monkeypatch.setattr(module.CONFIG, "NUMBA_NUM_THREADS", 3)
    assert adopt(Numba(), values()).note == "numba: 3 threads, dense float64"
    assert adopt(Numba(threads=1), sp.csr_matrix(values(ones=True))).note == (
        "numba: 1 thread, 0/1 features"
    )
