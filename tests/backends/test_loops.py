"""The loops of the backend numba against plain numpy."""

from __future__ import annotations

import multiprocessing
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from matrices import D, N, matrix_of, products, values

from uids.backends import adopt
from uids.backends.loops.kernels import csr, sums
from uids.backends.numba import Numba
from uids.system.tuning import LOOPS

# In one worker: two would each compile the same loops.
pytestmark = pytest.mark.xdist_group("numba")


FORMS = [
    *("csr float64", "csr float32", "csr 0/1", "csr int64", "csr mapped", "csr unsorted"),
    *("dense float64", "dense float32", "dense by columns", "dense mapped float32"),
]


@pytest.mark.parametrize("form", FORMS)
def test_products(form, tmp_path):
    X, plain = matrix_of(form, tmp_path)
    whole = adopt(Numba(threads=4), X)
    rng = np.random.default_rng(1)
    some, fewer = rng.permutation(N)[:250], rng.integers(0, 250, 90)
    views = [
        (whole, plain),
        (whole.rows(some), plain[some]),
        (whole.rows(some).rows(fewer), plain[some][fewer]),
        (whole.rows(some[:0]), plain[:0]),
    ]
    for matrix, rows in views:
        assert matrix.shape == rows.shape
        for shape in ((),) if "int64" in form else ((), (0,), (1,), (3,), (19,)):
            for found, expected in zip(products(matrix, shape), products(rows, shape), strict=True):
                assert found.dtype == np.float64
                assert found.shape == expected.shape
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", ["csr float64", "csr 0/1", "csr int64"])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_products_that_ask_for_the_numbers_of_later_rows(form, threads, tmp_path):
    X, plain = matrix_of(form, tmp_path)
    X, plain = X[5:], plain[5:]  # the first row is empty
    n = N - 5
    assert Numba().matrix(X).ahead == 0
    far = replace(LOOPS, prefetch_columns=1)
    whole = Numba(threads=threads).matrix(X, far)
    assert whole.ahead == -(-LOOPS.prefetch_distance * n // X.nnz)
    rng = np.random.default_rng(1)
    for index in (np.arange(n), rng.permutation(n)[:250], np.array([0, 0]), np.array([3, 0])):
        for found, right in zip(
            products(whole.rows(index), ()), products(plain[index], ()), strict=True
        ):
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)
    near = replace(far, prefetch_distance=10)
    assert Numba().matrix(X, near).ahead == 0  # twenty entries in a row
    empty = Numba().matrix(sp.csr_matrix((3, 4)), near)
    np.testing.assert_array_equal(empty.dot(np.ones(4)), np.zeros(3))


@pytest.mark.parametrize("form", ["float32", "float64"])
@pytest.mark.parametrize("columns", [1, 15, 300])
def test_products_that_ask_for_the_next_rows(form, columns):
    small = replace(LOOPS, prefetch_bytes=1)
    plain = np.random.default_rng(0).standard_normal((403, columns)).astype(form)
    whole, wide = Numba(threads=2).matrix(plain, small), Numba().matrix(np.zeros((9, 600)), small)
    assert whole.ahead
    assert not wide.ahead  # 4,800 bytes
    plain = plain.astype(np.float64)
    for index in (np.arange(403), np.arange(1, 403, 3), np.arange(403)[::-1], np.array([402, 0])):
        for found, right in zip(
            products(whole.rows(index), ()), products(plain[index], ()), strict=True
        ):
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-11)


def test_a_result_is_used_again_only_when_nobody_holds_it():
    matrix = adopt(Numba(threads=2), sp.csr_matrix(values()))
    ones = np.ones(D)
    first = matrix.dot(ones)
    part, expected = matrix.dot(2 * ones)[3:9], 2 * first[3:9]  # a view alone is held
    for factor in (3, 4):
        matrix.dot(factor * ones)
    np.testing.assert_array_equal(part, expected)
    np.testing.assert_allclose(first, values().sum(axis=1), atol=1e-12)
    place = matrix.dot(ones).ctypes.data
    assert matrix.dot(ones).ctypes.data == place


@pytest.mark.parametrize("form", ["csr float64", "csr 0/1", "dense float64"])
def test_the_number_of_threads_changes_no_more_than_rounding(form, tmp_path):
    X, _ = matrix_of(form, tmp_path)
    for shape in ((), (3,)):
        first = products(adopt(Numba(threads=1), X), shape)
        for threads in (2, 3, 4, 7):
            matrix = adopt(Numba(threads=threads), X)
            found = products(matrix, shape)
            for one, other, again in zip(first, found, products(matrix, shape), strict=True):
                np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
                np.testing.assert_array_equal(other, again)  # to the last bit


def test_rows_are_shared_out_by_stored_entries():
    heights = np.r_[np.full(10, 100), np.ones(1000, int)]
    X = sp.csr_matrix(
        (np.ones(2000), np.concatenate([np.arange(h) for h in heights]), np.r_[0, heights.cumsum()])
    )
    assert list(adopt(Numba(threads=2), X).ranges(2)) == [0, 10, 1010]
    view = adopt(Numba(threads=2), X).rows(np.arange(1010)[::-1])
    assert list(view.ranges(2)) == [0, 1000, 1010]


def test_a_matrix_without_entries():
    matrix = adopt(Numba(threads=2), sp.csr_matrix((N, D)))
    assert not matrix.gram_dot(np.ones(N), np.ones(D)).any()
    assert not matrix.rows(np.arange(3)).gram(np.ones(3)).any()


def test_float32_is_storage_only():
    X = values()
    rounded = X.astype(np.float32).astype(np.float64)
    for stored in (X, sp.csr_matrix(X)):
        matrix = adopt(Numba(precision="float32", threads=2), stored)
        assert "float32" in matrix.note
        for found, expected in zip(products(matrix, ()), products(rounded, ()), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_no_product_allocates_more_than_its_result():
    rng = np.random.default_rng(0)
    n, d = 60_000, 20_000
    X = sp.csr_matrix((np.ones(5 * n), rng.integers(0, d, 5 * n), np.arange(0, 5 * n + 1, 5)))
    X = sp.csr_matrix((np.ones(X.nnz), X.indices, X.indptr), shape=(n, d))
    X.sum_duplicates()
    for matrix in (
        adopt(Numba(threads=2), X),
        adopt(Numba(threads=2), X).rows(np.arange(50_000)),
    ):
        for shape in ((), (3,)):
            v, u = rng.standard_normal((d, *shape)), rng.standard_normal((matrix.shape[0], *shape))
            w = rng.random(matrix.shape[0])
            calls = {
                "dot": (v,),
                "tdot": (u,),
                "square_tdot": (u,),
                "gram_dot": (w, v),
            }
            for name, arguments in calls.items():
                product = getattr(matrix, name)
                size = product(*arguments).nbytes
                tracemalloc.start()
                product(*arguments)
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                assert peak < size + 20_000, name


def fails_once():
    left = [1]

    def kernel(*_):
        if left:
            left.pop()
            raise ZeroDivisionError

    return kernel


def test_a_product_that_was_broken_off_leaves_nothing_behind(monkeypatch):
    matrix = adopt(Numba(threads=4), sp.csr_matrix(values()))
    v, w = np.ones(D), np.ones(N)
    expected = matrix.gram_dot(w, v)
    # In one thread of those that wait for one another, and where the sums are full.
    for kernels, kernel in ((csr, "csr_dot"), (sums, "collect")):
        with monkeypatch.context() as patch:
            patch.setattr(kernels, kernel, fails_once())
            with pytest.raises(ZeroDivisionError):
                matrix.gram_dot(w, v)
        np.testing.assert_array_equal(matrix.gram_dot(w, v), expected)


def test_several_python_threads_at_once():
    whole = adopt(Numba(threads=2), sp.csr_matrix(values()))
    matrices = [whole, whole.rows(np.arange(300)), whole.rows(np.arange(100, 350))]
    expected = [products(matrix, ()) for matrix in matrices]
    with ThreadPoolExecutor(6) as threads:
        jobs = [(i, threads.submit(products, matrices[i], ())) for i in [0, 1, 2] * 20]
        for i, job in jobs:
            for found, right in zip(job.result(), expected[i], strict=True):
                np.testing.assert_array_equal(found, right)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    matrix = adopt(Numba(threads=2), sp.csr_matrix(values()))
    expected = matrix.tdot(np.ones(N))

    def child():
        np.testing.assert_array_equal(matrix.tdot(np.ones(N)), expected)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.parametrize("sparse", [True, False])
def test_nothing_outside_the_arrays_is_read(sparse):
    X = values()
    matrix = adopt(Numba(threads=2), sp.csr_matrix(X) if sparse else X)
    for product, arguments in (
        ("dot", (np.ones(D - 1),)),
        ("tdot", (np.ones(N + 1),)),
        ("square_tdot", (np.ones((N - 1, 2)),)),
        ("gram_dot", (np.ones(N - 1), np.ones(D))),
        ("gram_dot", (np.ones(N), np.ones(D + 1))),
        ("scored_dot", (np.ones(N), np.ones(D + 1))),
        ("scored_dot", (np.ones(N - 1), np.ones(D))),
        ("gram", (np.ones(N - 1),)),
    ):
        with pytest.raises(ValueError, match="shape"):
            getattr(matrix, product)(*arguments)
    for index in ([0, N], [-N - 1]):
        with pytest.raises(IndexError, match=f"a matrix that has {N}"):
            matrix.rows(np.array(index))
    v = np.ones(D)
    np.testing.assert_allclose(matrix.rows(np.array([-1, 2])).dot(v), X[[-1, 2]] @ v)
    mask = np.arange(N) % 3 == 0
    np.testing.assert_allclose(matrix.rows(mask).dot(v), X[mask] @ v)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("threads", [1, 3])
def test_products_with_a_change_in_between(form, threads, tmp_path):
    """Xᵀ f(X V) for an f that knows which rows it is given, some of them at a time."""
    X, plain = matrix_of(form, tmp_path)
    few = replace(LOOPS, mapped_numbers=7 * D)
    rng = np.random.default_rng(2)
    index, factor = rng.permutation(N)[:250], rng.standard_normal(N)
    V = rng.standard_normal((D, 3))

    def scaled(U, rows):
        U *= factor[rows, None]

    whole = Numba(threads=threads).matrix(X, few)
    for matrix, rows in ((whole, plain), (whole.rows(index), plain[index])):
        expected = rows.T @ ((rows @ V) * factor[: len(rows), None])
        np.testing.assert_allclose(matrix.map_dot(V, scaled), expected, rtol=1e-11, atol=1e-11)
        one = matrix.map_dot(V[:, :1], scaled)
        np.testing.assert_allclose(one, expected[:, :1], rtol=1e-11, atol=1e-11)
