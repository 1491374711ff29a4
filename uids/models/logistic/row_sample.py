"""A preconditioner for dense X: the Hessian of a few rows, of those that bend the loss most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import ssyrk, strsv

from uids.backends import Array
from uids.solvers import Precondition
from uids.system.tuning import BLOCK_BYTES

if TYPE_CHECKING:
    from uids.models.logistic.curvature import LogisticCurvature


Block = tuple[Array, Array]  # coordinates among the columns and the intercept, Cholesky factor


def row_sample_block(curvature: LogisticCurvature, w: Array) -> Block | None:
    """The Cholesky factor of M = I + C Σ_{i∈S} (w_i / q_i) x_i x_iᵀ, an unbiased estimate of
    I + C Xᵀ diag(w) X, and the columns that it is over.

    Row i is in S with probability q_i = min(1, m w_i / Σw): rows of which the model is certain
    have no curvature, and would be taken for nothing. In float32, which is twice as quick and more
    than an estimate is worth. None where float32 cannot factorise it.
    """
    (n, d), b = curvature.over.X.shape, int(curvature.fitted.intercept)
    total = float(w.sum())
    if not total > 0:
        return None
    tuning = curvature.tuning
    fewest, most = tuning.sample_rows if curvature.columns == 1 else tuning.sample_rows_classes
    count = np.clip(n / tuning.sample_share, fewest * d, most * d)
    share = np.minimum(1, w * (count / total))
    # Systematic sampling: the running sum of the shares passes each half-integer in one row.
    steps = np.cumsum(share)
    index = np.searchsorted(steps, np.arange(int(steps[-1])) + 0.5)
    root = np.sqrt(curvature.fitted.C * w[index] / share[index])[:, None].astype(np.float32)
    rows: Array = np.empty((len(index), d), dtype=np.float32)
    height = max(1, BLOCK_BYTES // (8 * d))
    for first in range(0, len(index), height):  # no copy of all of them in float64
        part = slice(first, first + height)
        X = curvature.over.X.rows(index[part]).fetch()
        np.multiply(X, root[part], out=rows[part], dtype=np.float32)
    live = np.flatnonzero(np.einsum("ij,ij->j", rows, rows) > tuning.sample_light)
    if len(live) < d:
        rows = moved_together(rows, live, height)
    if b:
        rows, live = np.hstack([rows, root]), np.append(live, d)
    M = ssyrk(1.0, rows.T, lower=1)  # rowsᵀ rows, of which half is enough
    del rows
    penalised = np.arange(len(live) - b)
    M[penalised, penalised] += 1
    try:
        factor, _ = cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    return live, factor


def moved_together(rows: Array, columns: Array, height: int) -> Array:
    """rows[:, columns], in the memory of ``rows``, some at a time: none is written before it was
    read."""
    flat, n, width = rows.reshape(-1), len(rows), len(columns)
    for first in range(0, n, height):
        some = rows[first : first + height].take(columns, axis=1, mode="clip")
        flat[first * width : first * width + some.size] = some.reshape(-1)
    return flat[: n * width].reshape(n, width)


def row_sample_preconditioner(curvature: LogisticCurvature) -> Precondition | None:
    """r ↦ M⁻¹ r for one score a row. With three rows a column a dozen iterations gain five digits,
    where plain CG takes ninety. None where there is no such block."""
    block = row_sample_block(curvature, curvature.row_curvature()[:, 0])
    if block is None:
        return None
    live, factor = block
    if not live.size:
        return np.copy  # M is the ridge

    def solve(r: Array) -> Array:
        out = np.array(r, dtype=np.float64)
        out[live] = solved(factor, r[live])
        return out

    return solve


def solved(factor: Array, r: Array) -> Array:
    """M⁻¹ r by a factor in float32, for one vector or the columns of several."""
    # Small residuals are far above the least float32 once they are scaled.
    size = float(np.abs(r).max(initial=0)) or 1.0
    z = (r / size).astype(np.float32)
    if z.size == len(factor):  # three times as quick as the routine for several
        half = strsv(factor, z.reshape(-1), lower=1, overwrite_x=1)
        z = strsv(factor, half, lower=1, trans=1, overwrite_x=1).reshape(z.shape)
    else:
        z = cho_solve((factor, True), z, check_finite=False)
    return np.multiply(z, size, dtype=np.float64)
