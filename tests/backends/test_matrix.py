"""What every kind of matrix promises: products, facts of its rows, and parts of it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from matrices import D, N, check, dense, values
from problems import OTHER_BACKEND, TwoProducts, Viewing

from uids.backends import adopt, stack
from uids.backends.loops.dense import DenseMatrix
from uids.backends.loops.sparse import SparseMatrix
from uids.backends.matrix import Matrix
from uids.backends.numba import Numba
from uids.backends.numpy import Numpy
from uids.backends.stacked import Stacked

# In one worker: two would each compile the same loops.
pytestmark = pytest.mark.xdist_group("numba")

CUT = 150  # rows of the upper of two matrices
ONES = np.arange(0, 40, 2)  # rows whose stored values are all 1


class Least(Matrix):
    """What a matrix must have; all else is by default."""

    note = "least"

    def __init__(self, X):
        self.X, self.shape = X, X.shape

    @property
    def sparse(self):
        return sp.issparse(self.X)

    @property
    def stored(self):
        return self.X.nnz if self.sparse else self.X.size

    def dot(self, V):
        return self.X @ V

    def tdot(self, U):
        return self.X.T @ U

    def _rows(self, index):
        return Least(self.X[index])

    def like(self, X):
        return Least(X)

    def fetch(self):
        return self.X


def torch_matrix(X):
    pytest.importorskip("torch")
    return adopt("torch", X)


def stacked_views(backend, X):
    """Views of one matrix, which are a view of it again."""
    whole = adopt(backend, sp.vstack([X, X], "csr") if sp.issparse(X) else np.vstack([X, X]))
    return stack(whole.rows(np.arange(CUT)), whole.rows(np.arange(N + CUT, 2 * N)))


def stacked_apart(X):
    return stack(adopt(Numba(threads=2), X[:CUT]), adopt(Numpy(), X[CUT:]))


KINDS = {
    "numpy": partial(adopt, Numpy()),
    "numba": partial(adopt, Numba(threads=2)),
    "torch": torch_matrix,
    "adopted": partial(adopt, TwoProducts()),
    "adopted with views": partial(adopt, Viewing()),
    "least": Least,
    "stacked": stacked_apart,
    "stacked least": lambda X: stack(Least(X[:CUT]), Least(X[CUT:])),
    "stacked views": partial(stacked_views, Numba(threads=2)),
    "stacked adopted views": partial(stacked_views, Viewing()),
    **({OTHER_BACKEND: partial(adopt, OTHER_BACKEND)} if OTHER_BACKEND else {}),
}


@pytest.fixture(params=KINDS)
def make(request):
    return KINDS[request.param]


@pytest.fixture(params=[True, False], ids=["sparse", "dense"])
def plain(request):
    """X with rows of all ones among the others, as an array or a CSR matrix."""
    X = values()
    X[ONES] = X[ONES] != 0
    return sp.csr_matrix(X) if request.param else X


def test_the_whole(make, plain):
    matrix = make(plain)
    check(matrix, plain)
    assert matrix.rows(np.arange(N)) is matrix
    assert matrix.rows(np.ones(N, dtype=bool)) is matrix


INDICES = {
    "in order": np.arange(0, N, 3),
    "backwards": np.arange(N)[::-1],
    "upper only": np.arange(20),
    "lower only": np.arange(N - 20, N),
    "some twice": np.random.default_rng(0).integers(0, N, 90),
    "from the end": np.array([-1, 0, -N, 3]),
    "by a mask": np.arange(N) % 3 == 1,
    "none": np.arange(0),
    "ones": ONES,
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_rows_have_the_facts_of_rows(make, plain, index):
    check(make(plain).rows(index), plain[index])


def test_rows_of_rows(make, plain):
    some, fewer = np.random.default_rng(1).permutation(N)[:250], np.array([249, 3, 1, 3, -1])
    once = make(plain).rows(some)
    check(once.rows(fewer), plain[some][fewer])
    assert once.rows(np.arange(250)) is once


def test_columns(make, plain):
    index = np.array([7, 0, 39, 3])
    whole, some = make(plain), np.arange(0, N, 7)
    check(whole.columns(index), plain[:, index])
    check(whole.rows(some).columns(index), plain[some][:, index])
    check(whole.columns(index).rows(some), plain[:, index][some])


@pytest.mark.parametrize("index", [[0, N], [-N - 1], np.arange(N + 1), np.ones(N + 1, dtype=bool)])
def test_rows_that_are_not_there(make, plain, index):
    with pytest.raises(IndexError, match=f"{N}"):
        make(plain).rows(np.asarray(index))
    view = make(plain).rows(np.arange(N - 1))
    with pytest.raises(IndexError, match=f"{N - 1}"):
        view.rows(np.array([N - 1]))


def test_all_ones(make):
    X = sp.csr_matrix(values(ones=True))
    matrix = make(X)
    known = "least" not in matrix.note  # a matrix need not know
    assert matrix.all_ones == known
    assert matrix.rows(np.arange(5)).all_ones == known
    assert matrix.rows(np.arange(N)[::-1]).all_ones == known
    X.data[-1] = 2
    assert not make(X).all_ones
    assert not make(X).rows(np.arange(N - 5, N)).all_ones
    assert not make(np.ones((N, D))).all_ones  # that nothing but ones is stored is for sparse X


def changed(X):
    """In a row that all the views below have."""
    X = X.copy()
    if sp.issparse(X):
        X.data[0] += 1e-9
    else:
        X[0, 5] += 1e-9
    return X


def test_a_fingerprint_is_that_of_the_content(make, plain):
    whole, again, other = make(plain), make(plain.copy()), make(changed(plain))
    assert whole.fingerprint() == again.fingerprint() == again.fingerprint()
    prints = [whole.fingerprint(), other.fingerprint(), make(plain[::-1]).fingerprint()]
    for index in ([0, 2, 5], [2, 0, 5], [0, 2], [0, 2, 6], [0, 2, 5, 5], [0, 2, N - 1]):
        index = np.array(index)
        view = whole.rows(index)
        assert view.fingerprint() == again.rows(index).fingerprint()
        prints.append(view.fingerprint())
        prints.append(other.rows(index).fingerprint())
    prints.append(make(plain.astype(np.float32)).fingerprint())
    assert len(set(prints)) == len(prints)


def test_a_fingerprint_knows_shape_and_form():
    empty = [sp.csr_matrix((3, d)) for d in (4, 5)] + [sp.csr_matrix((4, 4))]
    assert len({adopt(Numpy(), X).fingerprint() for X in [*empty, empty[0].toarray()]}) == 4


def test_what_is_stacked_stays_where_it_lies(plain):
    whole = adopt(Numba(threads=2), plain)
    upper, lower = whole.rows(np.arange(CUT)), whole.rows(np.arange(N - 9, N))
    both = stack(upper, lower)
    assert both.whole is whole
    assert both.host.X is whole.host.X
    apart = stack(upper, adopt(Numpy(), plain[-9:]))
    assert isinstance(apart, Stacked)
    check(apart, plain[np.r_[0:CUT, N - 9 : N]])
    part = apart.rows(np.array([0, CUT + 1]))
    assert isinstance(part, Stacked)  # in order, nothing is copied
    assert part.first.whole is whole
    assert stack(whole, upper).shape == (N + CUT, D)  # the whole is no view of itself


def test_nothing_is_fetched_at_once_for_the_rarer_products(plain):
    """A HostMatrix works block by block."""
    matrix = adopt(Numpy(), plain)
    blocks = list(matrix.rows(np.array([3, 1, 3])).host.blocks(2))
    assert [start for start, _ in blocks] == [0, 2]
    np.testing.assert_array_equal(dense(blocks[0][1]), dense(plain[[3, 1]]))
    view = adopt(Numba(), plain).rows(np.arange(50)).rows(np.array([3, 1, 3]))
    blocks = list(view.host.blocks(2))
    np.testing.assert_array_equal(dense(blocks[1][1]), dense(plain[[3]]))


def test_products_by_blas():
    X = values()
    numba = adopt(Numba(threads=2), X)
    assert isinstance(numba, DenseMatrix)
    for matrix in (numba, numba.rows(np.arange(9)), adopt(Numba(), np.asfortranarray(X))):
        assert not matrix.uses_blas(1)
        assert not matrix.uses_blas(2)  # small blocks by BLAS, on threads that are not BLAS's
    assert adopt(Numpy(), X).uses_blas(1)
    sparse = adopt(Numba(threads=2), sp.csr_matrix(X))
    assert isinstance(sparse, SparseMatrix)
    assert not any(sparse.uses_blas(columns) for columns in (1, 2, 9))
    assert all(adopt(Numpy(), X).uses_blas(columns) for columns in (1, 2))
    assert not adopt(Numpy(), sp.csr_matrix(X)).uses_blas(2)
    assert adopt(TwoProducts(), sp.csr_matrix(X)).uses_blas(1)  # nobody knows
    below = stack(sparse, adopt(Numpy(), sp.csr_matrix(X)))
    assert not below.uses_blas(3)
    assert below.threads == 2
