"""A matrix in every form in which it can lie, and every product with it, for the tests of the
backends."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from uids.backends import Matrix

N, D = 400, 40


def values(ones=False, seed=0):
    """With an empty row and an empty column, half of the rest zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.5)
    X[5], X[:, 3] = 0, 0
    return (X != 0).astype(float) if ones else X


def mapped(array, path):
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def matrix_of(form, folder):
    """(X as ``form`` says, the same as plain float64)."""
    plain = values(ones="0/1" in form)
    if "float32" in form:
        plain = plain.astype(np.float32)
    if "dense" in form:
        X = np.asfortranarray(plain) if "columns" in form else plain
        return (mapped(X, folder / "X.npy") if "mapped" in form else X), plain.astype(np.float64)
    X = sp.csr_matrix(plain)
    if "int64" in form:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    if "mapped" in form:
        for name in ("data", "indices", "indptr"):
            setattr(X, name, mapped(getattr(X, name), folder / f"{name}.npy"))
    if "unsorted" in form:
        X.indices, X.data = X.indices.copy(), X.data.copy()
        a, b = X.indptr[:2]
        X.indices[a:b], X.data[a:b] = X.indices[a:b][::-1].copy(), X.data[a:b][::-1].copy()
        X.has_sorted_indices = X.has_canonical_format = False
    return X, plain.astype(np.float64)


def products(X, shape, seed=0):
    """Every product with X, a Matrix or a plain array, for vectors and for columns."""
    rng = np.random.default_rng(seed)
    n, d = X.shape
    V, U, w = rng.standard_normal((d, *shape)), rng.standard_normal((n, *shape)), rng.random(n)
    v = rng.standard_normal(d)
    if isinstance(X, Matrix):
        found = [X.dot(V), X.tdot(U), X.gram_dot(w, V), X.square_tdot(U), X.gram(w)]
        return [*found, X.outer_dot(w), X.outer_dot(U), *X.scored_dot(w, v)]
    W = w.reshape(-1, *[1] * len(shape))
    found = [X @ V, X.T @ U, X.T @ (W * (X @ V)), (X * X).T @ U, X.T @ (w[:, None] * X)]
    return [*found, X @ (X.T @ w), X @ (X.T @ U), X.T @ (w * (X @ v)), X @ v]


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def check(matrix, plain):
    """The matrix against the same rows as numpy or scipy have them."""
    expected = dense(plain)
    assert isinstance(matrix, Matrix)
    assert matrix.shape == plain.shape
    assert matrix.sparse == sp.issparse(plain)
    assert matrix.stored == (plain.nnz if matrix.sparse else plain.size)
    if matrix.all_ones:
        assert (plain.data == 1).all()
    fetched = matrix.fetch()
    assert sp.issparse(fetched) == matrix.sparse
    np.testing.assert_array_equal(dense(fetched), expected)
    for shape in ((), (3,)):
        for got, right in zip(products(matrix, shape), products(expected, shape), strict=True):
            assert got.dtype == np.float64
            assert got.flags.writeable
            np.testing.assert_allclose(got, right, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(matrix.row_squares(), (expected**2).sum(axis=1), rtol=1e-12)
    A = np.random.default_rng(3).standard_normal((plain.shape[1], plain.shape[1]))
    forms = np.einsum("ij,jk,ik->i", expected, A, expected)
    np.testing.assert_allclose(matrix.quadratic(A), forms, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(matrix.outer(), expected @ expected.T, rtol=1e-10, atol=1e-10)
