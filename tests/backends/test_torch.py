"""The torch backend against numpy's."""

import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_rows

torch = pytest.importorskip("torch")

import uids
from uids.backends import adopt
from uids.backends.torch import Torch
from uids.models import Rows


@pytest.mark.parametrize("sparse", [False, True])
def test_the_backend_multiplies(sparse):
    train = make_rows(n=70, d=9, sparse=sparse)
    rng = np.random.default_rng(0)
    V, U, w = rng.standard_normal((9, 2)), rng.standard_normal((70, 2)), rng.random(70)
    for dtype, tolerance in (("float64", 1e-13), ("float32", 1e-5)):
        matrix = adopt(Torch(dtype=dtype), train.X.fetch())
        for found, expected in [
            (matrix.dot(V), train.X.dot(V)),
            (matrix.dot(V[:, 0]), train.X.dot(V[:, 0])),
            (matrix.tdot(U), train.X.tdot(U)),
            (matrix.gram_dot(w, V), train.X.gram_dot(w, V)),
            (matrix.square_tdot(w), train.X.square_tdot(w)),
            (matrix.rows(np.arange(5)).dot(V), train.X.dot(V)[:5]),
        ]:
            assert found.dtype == np.float64
            np.testing.assert_allclose(found, expected, atol=tolerance * 70)


def test_rows_stay_where_they_are():
    """A dense float64 matrix is shared with torch, not copied."""
    X = np.ones((3, 2))
    rows = Rows(adopt(Torch(), X), np.array([0, 1, 0]), 2)
    X[0, 0] = 7
    assert rows.X.dot(np.array([1.0, 0.0]))[0] == 7


def test_refusals():
    with pytest.raises(uids.UidsError, match="torch cannot use the device 'warp'"):
        adopt(Torch(device="warp"), np.ones((2, 2))).prepare()
    with pytest.raises(ValueError, match="dtype must be 'float64' or 'float32'"):
        Torch(dtype="int8")


def test_columns_in_any_order_and_more_than_once():
    X = sp.csr_matrix((np.arange(1.0, 6.0), [2, 0, 1, 1, 0], [0, 2, 4, 5]), shape=(3, 3))
    before = X.indices.copy()
    matrix = adopt(Torch(), X)
    np.testing.assert_array_equal(matrix.dot(np.ones(3)), [3, 7, 5])
    np.testing.assert_array_equal(matrix.tdot(np.eye(3)), X.toarray().T)
    np.testing.assert_array_equal(X.indices, before)  # the caller's own stays as it is
