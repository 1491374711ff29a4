"""Entries stored anew where products pay for it: by columns, and with the columns renamed."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from matrices import D, N, mapped, matrix_of, products, values

from uids.backends.loops.layout import release
from uids.backends.numba import Numba
from uids.system.memory import memory
from uids.system.tuning import LONG_COLUMN, LOOPS

# In one worker: two would each compile the same loops.
pytestmark = pytest.mark.xdist_group("numba")

BY_COLUMNS = replace(LOOPS, column_entries=1)
RENAMED = replace(LOOPS, renamed_entries=1, renamed_columns=1)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("form", ["csr float64", "csr float32", "csr 0/1", "csr int64"])
def test_products_of_few_rows_stored_by_columns(form, threads, tmp_path):
    X, _ = matrix_of(form, tmp_path)
    X = X[:, [3, *range(D)]].T.tocsr()  # two empty columns, one empty row
    X.sort_indices()
    plain = X.toarray().astype(np.float64)
    whole = Numba(threads=threads).matrix(X, replace(BY_COLUMNS, column_span=64))
    many = np.random.default_rng(1).integers(0, D + 1, 35)  # some twice
    early = whole.rows(many)  # older than the columns
    few = whole.rows(many[:5])  # has less than half the entries
    pairs = [(whole, plain), (early, plain[many]), (few, plain[many[:5]])]
    for _ in range(2):  # before the first product stores them, and after
        for matrix, rows in pairs:
            for shape in ((), (3,)):
                for found, right in zip(
                    products(matrix, shape), products(rows, shape), strict=True
                ):
                    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)
        kept = whole.forms.columns  # made by the first outer_dot
        assert kept is early.forms.columns
        assert kept.shape == X.shape
        pairs = [*pairs, (whole.rows(many[::-1]), plain[many[::-1]])]
    counts = np.diff(kept.starts.astype(int))
    assert (counts == (plain != 0).sum(axis=0)[kept.names]).all()
    for span in np.split(counts, np.arange(64, X.shape[1], 64)):  # the longer first
        assert (np.diff(np.minimum(span, int(LONG_COLUMN))) <= 0).all()
    u = np.random.default_rng(2).standard_normal(D + 1)
    np.testing.assert_array_equal(whole.outer_dot(u), whole.outer_dot(u))


def test_columns_are_stored_when_products_have_become_many():
    plain = values().T
    wide = Numba(threads=2).matrix(sp.csr_matrix(plain), BY_COLUMNS)
    rng = np.random.default_rng(0)
    for _ in range(LOOPS.column_patience + 1):
        assert wide.forms.columns is None
        w, v = rng.random(D), rng.standard_normal(N)
        found = wide.gram_dot(w, v)
        np.testing.assert_allclose(found, plain.T @ (w * (plain @ v)), rtol=1e-12, atol=1e-12)
    assert wide.forms.columns is not None


def test_tall_or_small_data_are_not_stored_by_columns():
    wide = Numba(threads=1).matrix(sp.csr_matrix(values().T))
    assert wide.outer_dot(np.ones(D)).shape == (D,)
    assert wide.forms.columns is None  # too few entries
    tall = Numba(threads=1).matrix(sp.csr_matrix(values()), BY_COLUMNS)
    assert tall.outer_dot(np.ones(N)).shape == (N,)
    assert tall.forms.columns is None


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("form", ["csr 0/1", "csr 0/1 int64", "csr 0/1 mapped", "csr float64"])
def test_products_with_columns_by_frequency(form, threads, tmp_path):
    X, plain = matrix_of(form, tmp_path)
    before = X.indices.copy(), X.data.copy()
    first, whole = (Numba(threads=threads).matrix(X, RENAMED) for _ in range(2))
    some = np.random.default_rng(1).permutation(N)[:250]
    early = whole.rows(some)  # a view that is older than the renaming
    for shape in ((), (3,)):
        for matrix, rows in ((whole, plain), (early, plain[some]), (whole.rows(some), plain[some])):
            for found, expected in zip(products(matrix, shape), products(rows, shape), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        first.gram_dot(np.ones(N), np.ones(D))
        for one, other in zip(products(first, shape), products(whole, shape), strict=True):
            np.testing.assert_array_equal(one, other)
    order, counts = whole.layout.permutation, (plain != 0).sum(axis=0)
    if "0/1" not in form:
        assert order is None
        return
    assert (early.layout.permutation == order).all()
    assert sorted(order) == list(range(D))
    assert (np.diff(counts[order]) <= 0).all()  # from the most frequent on
    np.testing.assert_array_equal(X.indices, before[0])
    np.testing.assert_array_equal(X.data, before[1])


def test_columns_keep_their_names_where_the_copy_would_not_fit():
    little = replace(RENAMED, memory_share=memory() // 100)
    matrix = Numba().matrix(sp.csr_matrix(values(ones=True)), little)
    matrix.gram_dot(np.ones(N), np.ones(D))
    assert matrix.layout.permutation is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_pages_that_are_released_no_longer_count_and_stay_as_they_are(tmp_path):
    array = mapped(np.arange(4_000_000), tmp_path / "a.npy")

    def resident():
        """Bytes of files that this process holds in memory."""
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if "RssFile" in line) * 1024

    total, before = array.sum(), resident()
    release(array[5:])
    assert resident() < before - 0.8 * array.nbytes
    assert array.sum() == total
    private = np.load(tmp_path / "a.npy", mmap_mode="c")
    private[7] = -1
    release(private)  # nothing: what was written is not in the file
    assert private[7] == -1
