"""What a row's own features say, exactly, in the space of the rows: for X of more columns than
rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, helmert, solve_triangular

from uids.backends import Array
from uids.errors import UidsError
from uids.solvers.direct import NOT_POSITIVE_DEFINITE
from uids.system.tuning import BLAS_SPEED, BLOCK_BYTES

if TYPE_CHECKING:
    from uids.models.logistic.curvature import LogisticCurvature


def rank(curvature: LogisticCurvature) -> int:
    """r of W_i: softmax does not change when all scores of a row move together."""
    return max(1, curvature.columns - 1)


def work(curvature: LogisticCurvature) -> float:
    """Multiply-adds: X Xᵀ, and a factorisation and as many triangular solves of nr rows."""
    n, d = curvature.over.X.shape
    if curvature.over.X.sparse:  # of wide text two rows share few words: half of it, or less
        outer = float(curvature.over.X.stored) * n / 2
    else:
        outer = float(n * n * d) / BLAS_SPEED
    N = n * rank(curvature)
    return outer + 2 / 3 * N**3 / BLAS_SPEED + 4 * N**2


def bytes_needed(curvature: LogisticCurvature) -> int:
    """S and X Xᵀ, and what is held beside them while they are put together."""
    n = curvature.rows
    return 16 * (n * rank(curvature)) ** 2 + 16 * n**2


def forms_in_rows(curvature: LogisticCurvature) -> Array:
    """M_i = E_iᵀ H⁻¹ E_i of the rows that the curvature is over, (n, k, k).

    With C ω_i W_i = L_i L_iᵀ and G the L_iᵀ one below the other, A = nC·H without the intercept is
    A₀ = I + Σ E_i L_i L_iᵀ E_iᵀ, and with S = I + (L_iᵀ L_j x_iᵀx_j)_ij = T Tᵀ, of n r rows,

        E_jᵀ A₀⁻¹ E_j = ‖x_j‖² I − V_jᵀ V_j,   V_j = T⁻¹ (L_iᵀ x_iᵀx_j)_i.

    The intercept, which has no penalty, adds Y_j (tᵀt)⁻¹ Y_jᵀ with t = T⁻¹ G and Y_j = I − V_jᵀ t.

    All this in a basis of what is orthogonal to 𝟏, where W_i has its full rank r = k − 1. Along 𝟏
    there is the penalty alone, and on the intercepts the term that makes H positive definite.
    """
    n, k, r = curvature.rows, curvature.columns, rank(curvature)
    intercept, C = curvature.fitted.intercept, curvature.fitted.C
    basis = np.ones((1, 1)) if k == 1 else helmert(k).T  # (k, r)
    K = curvature.over.X.outer()
    square = K.diagonal().copy()
    G = np.einsum("ika,kc->iac", roots(curvature), basis)  # L_iᵀ in that basis
    flat = G.reshape(n * r, r)
    S = flat @ flat.T
    S.reshape(n, r, n, r)[:] *= K[:, None, :, None]
    S[np.arange(n * r), np.arange(n * r)] += 1
    try:
        T, _ = cho_factor(S.T, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise UidsError(NOT_POSITIVE_DEFINITE) from error
    t = solve_triangular(T, flat, lower=True, check_finite=False) if intercept else None
    forms = np.empty((n, r, r))
    width = max(1, 8 * BLOCK_BYTES // (8 * n * r * r))
    for first in range(0, n, width):
        part = slice(first, first + width)
        right = (G[:, :, None, :] * K[:, None, part, None]).reshape(n * r, -1)
        V = solve_triangular(T, right, lower=True, check_finite=False).reshape(n * r, -1, r)
        forms[part] = square[part, None, None] * np.eye(r) - np.einsum("zja,zjb->jab", V, V)
        if t is not None:
            Y = np.eye(r) - np.einsum("zja,zb->jab", V, t)
            forms[part] += Y @ np.linalg.solve(t.T @ t, Y.transpose(0, 2, 1))
    whole = np.einsum("ka,iab,lb->ikl", basis, forms, basis)
    if k > 1:
        whole += (square + intercept / C)[:, None, None] / k
    return np.asarray(whole * curvature.scale)


def roots(curvature: LogisticCurvature) -> Array:
    """L_i of C ω_i W_i = L_i L_iᵀ, (n, k, r).

    For softmax W = D (I − q qᵀ) D with D = diag(√p), q = √p of length 1. The Householder reflection
    that takes q to an axis has, in its other columns, a basis Q of what is orthogonal to q, and
    L = D Q.
    """
    P, k, C = curvature.state, curvature.columns, curvature.fitted.C
    if k == 1:
        return np.asarray(np.sqrt(C * curvature.row_curvature())[:, :, None])
    weights = C * np.ones(len(P))
    if curvature.weights is not None:
        weights *= curvature.weights
    q = np.sqrt(P)
    v = q.copy()
    v[:, 0] += 1
    Q = np.eye(k)[:, 1:] - v[:, :, None] * v[:, None, 1:] / v[:, :1, None]
    return np.asarray(np.sqrt(weights)[:, None, None] * q[:, :, None] * Q)
