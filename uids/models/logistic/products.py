"""Products with rows that have an intercept, gradients of single rows, and what scores mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import daxpy
from scipy.special import expit, log_softmax, softmax

from uids.backends import Array, Matrix
from uids.models.rows import Rows


def product(rows: Rows, T: npt.NDArray[Any], intercept: bool) -> Array:
    """X T, the last row of T being the intercepts."""
    B = np.ascontiguousarray(T[:-1] if intercept else T)
    # One vector as a vector: scipy's product with a matrix of one column takes twice as long.
    result = rows.X.dot(B[:, 0])[:, None] if B.shape[1] == 1 else rows.X.dot(B)
    if intercept:
        result += T[-1]
    return result


def add(source: Array, target: Array, factor: float) -> None:
    """target += factor · source, of the same shape; without a third array where both lie in memory
    row by row in float64, which what a backend hands back need not do."""
    if target.flags.c_contiguous and target.dtype == np.float64:
        daxpy(source.reshape(-1), target.reshape(-1), a=factor)
    else:
        target += factor * source


def transposed(rows: Rows, U: Array, intercept: bool) -> Array:
    """Xᵀ U, with the sums of U below it where there is an intercept."""
    product = rows.X.tdot(U[:, 0])[:, None] if U.shape[1] == 1 else rows.X.tdot(U)
    if not intercept:
        return product
    result = np.empty((len(product) + 1, U.shape[1]))
    result[:-1] = product
    result[-1] = U.sum(axis=0)
    return result


def weighed_dot(X: Matrix, w: Array, V: Array, shift: Array | None) -> tuple[Array, Array | None]:
    """Xᵀ R and, where there is a shift, the sums of R, for R = w ∘ (X V + shift)."""
    U = X.dot(V[:, 0])[:, None] if V.shape[1] == 1 else X.dot(V)
    if shift is not None:
        U += shift
    U *= w[:, None]
    product = X.tdot(U[:, 0])[:, None] if U.shape[1] == 1 else X.tdot(U)
    return product, None if shift is None else U.sum(axis=0)


def outer(rows: Rows, R: Array, intercept: bool) -> Array:
    """The outer products of x_i (with its 1, if there is an intercept) and R_i, as columns; dense,
    and so only for as many rows as the caller has room for."""
    X = rows.X.fetch()
    X = X.toarray() if rows.X.sparse else X
    if intercept:
        X = np.hstack([X, np.ones((len(rows), 1))])
    return np.einsum("ij,ik->jki", X, R).reshape(X.shape[1] * R.shape[1], -1)


def slopes(R: Array, S: Array, intercept: bool) -> tuple[Array, Array]:
    """(A, b) with Σ_k R_ik x_iᵀ S_k = x_iᵀ A_i + b_i, the last row of S being the intercepts."""
    A = R @ S.T
    return (A[:, :-1], A[:, -1]) if intercept else (A, np.zeros(len(A)))


def probabilities_of(Z: Array) -> Array:
    """(n, K) from scores (n, k): one column is the log-odds of class 1, K columns are softmax's."""
    if Z.shape[1] == 1:
        return np.hstack([expit(-Z), expit(Z)])
    return np.asarray(softmax(Z, axis=1))


def losses_of(Z: Array, y: npt.NDArray[np.int64]) -> Array:
    """l_i from scores (n, k), (n,)."""
    if Z.shape[1] == 1:
        z = Z[:, 0]
        return np.logaddexp(0, z) - y * z
    return -np.asarray(log_softmax(Z, axis=1))[np.arange(len(y)), y]


def centred(v: Array, columns: int) -> Array:
    """v less its mean over the classes, column by column of X, in place."""
    V = v.reshape(-1, columns)
    V -= class_mean(V)[:, None]
    return v


def class_mean(V: Array) -> Array:
    """Of each row of (d, k): a product, which is three times as quick as numpy's mean of few."""
    return np.asarray(V @ np.full(V.shape[1], 1 / V.shape[1]))


def peak(vector: Array) -> float:
    """The largest |coordinate|, without a second vector."""
    return float(max(vector.max(), -vector.min())) if len(vector) else 0.0
