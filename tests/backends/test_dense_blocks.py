"""A dense X with several vectors, some rows at a time, against numpy with all rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from uids.backends import numpy as numpy_backend
from uids.backends.dense_blocks import DenseBlocks, small_height
from uids.backends.numpy import Numpy
from uids.system.threads import blas_threads, one_blas_thread
from uids.system.tuning import LOOPS

N, D, K = 97, 13, 5
FEW = replace(LOOPS, mapped_work=D * K * 16)  # of 16 rows each


def numbers(dtype=np.float64):
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((N, D)) * 50).astype(dtype)
    return X, rng.standard_normal((D, K)), rng.standard_normal((N, K))


def halved(U, rows):
    U *= np.linspace(0, 1, N)[rows, None]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("cuts", [[0, N], [0, 40, 40, N]])
@pytest.mark.parametrize("listed", [False, True])
def test_blocks_of_rows_add_up(dtype, cuts, listed):
    X, V, U = numbers(dtype)
    index = np.random.default_rng(1).permutation(N) if listed else None
    in_blocks = DenseBlocks(X, index, cuts, FEW)
    rows = (X if index is None else X[index]).astype(np.float64)
    near = {"rtol": 1e-12, "atol": 1e-10}
    np.testing.assert_allclose(in_blocks.dot(V), rows @ V, **near)
    np.testing.assert_allclose(in_blocks.tdot(U), rows.T @ U, **near)
    np.testing.assert_allclose(in_blocks.tdot(U, square=True), (rows * rows).T @ U, **near)
    between = rows @ V * np.linspace(0, 1, N)[:, None]
    np.testing.assert_allclose(in_blocks.map_dot(V, halved), rows.T @ between, **near)


def test_many_vectors_are_not_cut_into_a_few_rows_each():
    assert small_height(D, K, FEW) == 16
    assert small_height(D, 2 * K, FEW) == 0


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_products_of_numpy_are_the_same_on_several_threads(order, monkeypatch):
    X, V, U = numbers()
    monkeypatch.setattr(numpy_backend, "LOOPS", replace(LOOPS, mapped_thread=1))
    monkeypatch.setattr(numpy_backend, "blas_threads", lambda: 3)
    matrix = Numpy().matrix(np.asarray(X, order=order))
    assert matrix.several(V) == (order == "C")
    np.testing.assert_allclose(matrix.dot(V), X @ V, atol=1e-10)
    np.testing.assert_allclose(matrix.tdot(U), X.T @ U, atol=1e-10)
    np.testing.assert_allclose(matrix.square_tdot(U), (X * X).T @ U, atol=1e-8)
    between = X @ V * np.linspace(0, 1, N)[:, None]
    np.testing.assert_allclose(matrix.map_dot(V, halved), X.T @ between, atol=1e-8)


def test_threads_of_blas_are_those_that_it_may_take_now():
    assert blas_threads() >= 1
    with one_blas_thread(True):
        assert blas_threads() == 1
