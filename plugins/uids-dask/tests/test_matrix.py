"""Products on the workers against numpy's, and φ against that of numba."""

import numpy as np
import pytest
import scipy.sparse as sp
from uids_dask.libsvm import DaskLibsvm
from uids_dask.matrix import DaskMatrix, Held

import uids
from uids import testing
from uids.datasets.formats.libsvm import Libsvm


def test_it_passes_the_checks_of_backends(backend):
    testing.check_backend(backend)


def made(sparse, n=90, d=7):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    return (sp.csr_matrix(X) if sparse else X), X


@pytest.mark.parametrize(("sparse", "lends"), [(False, True), (True, True), (True, False)])
def test_large_vectors_are_sent_and_small_ones_travel_with_their_task(
    backend, sparse, lends, monkeypatch
):
    """Or they are lent to workers of the same machine."""
    monkeypatch.setattr("uids_dask.cluster.SMALL", 0)
    if not lends:
        monkeypatch.setattr(backend.cluster(), "lender", None)
    given, X = made(sparse)
    matrix, rng = backend.matrix(given), np.random.default_rng(0)
    v, w, P = rng.normal(size=7), rng.random(90), rng.random((90, 3))
    some = np.r_[rng.permutation(90)[:50], 3, 3]
    for view, rows in ((matrix, X), (matrix.rows(some), X[some])):
        held, states = view.hold(w[: len(rows)]), view.hold(P[: len(rows)])
        assert isinstance(held, Held)
        right = rows.T @ (w[: len(rows)] * (rows @ v))
        np.testing.assert_allclose(view.gram_dot(held, v), right, atol=1e-12)
        product, scores = view.scored_dot(held, v)
        np.testing.assert_allclose(product, right, atol=1e-12)
        np.testing.assert_allclose(scores, rows @ v, atol=1e-12)
        V, shift = rng.normal(size=(7, 6)), rng.normal(size=6)
        got, sums = view.class_dot(states, held, V, shift)
        U = (rows @ V + shift).reshape(len(rows), 3, 2)
        p = P[: len(rows), :, None]
        R = w[: len(rows), None, None] * p * (U - (p * U).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(got, rows.T @ R.reshape(len(rows), 6), atol=1e-12)
        np.testing.assert_allclose(sums, R.reshape(len(rows), 6).sum(axis=0), atol=1e-12)


def test_sums_go_up_a_tree(backend, monkeypatch):
    monkeypatch.setattr("uids_dask.matrix.BLOCK_BYTES", 12 * 7 * 3)
    monkeypatch.setattr("uids_dask.asked.FAN", 2)
    given, X = made(False)
    matrix = backend.matrix(given)
    assert len(matrix.blocks.heights) == 30
    assert [len(group) for group in matrix.groups()] == [15, 15]
    np.testing.assert_allclose(matrix.tdot(np.ones(90)), X.sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_of_many_rows_stay_on_the_workers(backend, sparse, monkeypatch):
    monkeypatch.setattr("uids_dask.matrix.SMALL", 0)
    given, X = made(sparse)
    chosen = np.array([5, 0, 2])
    part = backend.matrix(given).rows(np.arange(3, 80)).columns(chosen)
    assert isinstance(part, DaskMatrix)
    right = X[3:80][:, chosen]
    np.testing.assert_allclose(part.dot(np.arange(3.0)), right @ np.arange(3.0), atol=1e-12)
    assert part.stored == (np.count_nonzero(right) if sparse else right.size)


CASES = [
    ("dense", 2, True),
    ("dense", 3, False),
    ("sparse", 2, False),
    ("sparse", 3, True),
    ("ones", 2, True),
]


@pytest.mark.parametrize(("form", "classes", "intercept"), CASES)
def test_influence_of_files_is_that_of_numba(backend, written, form, classes, intercept):
    folder = written(form, classes)
    model = {"name": "logreg", "fit_intercept": intercept}
    data = DaskLibsvm(f"{folder}/part-*.txt", f"{folder}/validation.txt").load_for(backend)
    whole = Libsvm(f"{folder}/all.txt", f"{folder}/validation.txt").load()
    np.testing.assert_array_equal(data.y, whole.y)
    assert data.X.shape == whole.X.shape
    found = uids.influence(model, (data.X, data.y), data.validation, backend=backend)
    right = uids.influence(model, (whole.X, whole.y), whole.validation, backend="numba")
    assert np.abs(found.phi - right.phi).max() <= 1e-9 * np.abs(right.phi).max()


def test_a_whole_run_keeps_the_rows_that_numba_keeps(backend, written):
    folder = written("sparse", n=1500)
    choose = {"ratios": (0.9,), "draws": 1, "folds": 2}
    keys = {"ratio": "auto", "repeats": 1, "cache": False, "choose": choose, "noise": 0.1}
    ours = uids.run(DaskLibsvm(f"{folder}/part-*.txt"), backend=backend, **keys)
    right = uids.run(Libsvm(f"{folder}/all.txt"), backend="numba", **keys)
    size = np.abs(right.influence).max()
    assert np.abs(ours.influence - right.influence).max() <= 1e-9 * size
    np.testing.assert_array_equal(ours.row, right.row)
    np.testing.assert_array_equal(ours.kept, right.kept)
    ours, right = (r.metrics["subset"]["test"]["logloss"] for r in (ours, right))
    assert abs(ours - right) <= 1e-9


def test_few_rows_are_brought_here(backend, written):
    from dataclasses import replace

    folder = written("dense")
    near = replace(backend.cluster(), settings=replace(backend.cluster().settings, small=10**6))
    data = DaskLibsvm(f"{folder}/part-*.txt").load_for(backend)
    matrix = DaskMatrix(replace(data.X.blocks, cluster=near))
    assert not isinstance(matrix.rows(np.arange(5)), DaskMatrix)
    np.testing.assert_allclose(
        matrix.dot(np.ones(8)), backend.matrix(data.X).dot(np.ones(8)), atol=1e-12
    )
