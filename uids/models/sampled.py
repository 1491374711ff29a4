"""A preconditioner for dense X: the Hessian of a few rows, of those that bend the loss most."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import ssyrk, strsv

from uids.backends import Array
from uids.models.logistic import LogisticCurvature

FEWEST = 200  # columns: below that the dense Hessian itself is as cheap
MOST = 4000  # columns: above that its factor is dearer than the products that it saves
ROWS = 3  # for each column
SHARE = 4  # at most one row in as many is taken, so that it costs a fraction of the dense Hessian


def suits(curvature: LogisticCurvature) -> bool:
    n, d = curvature.over.X.shape
    return FEWEST <= d <= MOST and n >= SHARE * ROWS * d


def sampled(curvature: LogisticCurvature) -> Callable[[Array], Array] | None:
    """r ↦ M⁻¹ r, M = I + C Σ_{i∈S} (w_i / q_i) x_i x_iᵀ, an unbiased estimate of A = nC·H.

    Row i is in S with probability q_i = min(1, m w_i / Σw): rows of which the model is certain
    have no curvature, and would be taken for nothing. With three rows a column a dozen iterations
    gain five digits, where plain CG takes ninety. In float32, which is twice as quick and more than
    an estimate is worth. None where float32 cannot factorise it.
    """
    d, b = curvature.over.X.shape[1], int(curvature.at.intercept)
    w = curvature.row_curvature()[:, 0]
    total = float(w.sum())
    if not total > 0:
        return None
    share = np.minimum(1, w * (ROWS * d / total))
    # Systematic sampling: the running sum of the shares passes each half-integer in one row.
    steps = np.cumsum(share)
    index = np.searchsorted(steps, np.arange(int(steps[-1])) + 0.5)
    found = curvature.over.X.rows(index).X
    live = np.flatnonzero(found.any(axis=0))  # pictures have borders: M is the ridge there
    rows = np.empty((len(index), len(live) + b), dtype=np.float32)
    rows[:, : len(live)] = found if len(live) == d else found.take(live, axis=1, mode="clip")
    rows[:, len(live) :] = 1
    rows *= np.sqrt(curvature.at.C * w[index] / share[index])[:, None].astype(np.float32)
    live = np.append(live, np.arange(d, d + b))
    M = ssyrk(1.0, rows.T, lower=1)  # rowsᵀ rows, of which half is enough
    del rows, found
    penalised = np.arange(len(live) - b)
    M[penalised, penalised] += 1
    try:
        factor, _ = cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None

    def solve(r: Array) -> Array:
        out = np.array(r, dtype=np.float64)
        # Small residuals are far above the least float32 once they are scaled.
        size = float(np.abs(r).max(initial=0)) or 1.0
        z = (r[live] / size).astype(np.float32)
        if z.size == len(factor):  # three times as quick as the routine for several
            half = strsv(factor, z.reshape(-1), lower=1, overwrite_x=1)
            z = strsv(factor, half, lower=1, trans=1, overwrite_x=1).reshape(z.shape)
        else:
            z = cho_solve((factor, True), z, check_finite=False)
        out[live] = z
        out[live] *= size
        return out

    return solve
