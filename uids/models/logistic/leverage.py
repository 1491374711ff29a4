"""Leverage, leave-one-out influence and self-influence of a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from uids.backends import Array
from uids.models.logistic import in_rows
from uids.models.logistic.in_rows import forms_in_rows
from uids.models.logistic.products import product, transposed
from uids.models.model import RowForms
from uids.models.rows import Rows
from uids.system.tuning import BLAS_SPEED

if TYPE_CHECKING:
    from uids.models.logistic.curvature import LogisticCurvature
    from uids.models.logistic.scored import FittedLinear


@dataclass(frozen=True)
class LogisticForms(RowForms):
    """M_i = (x_i ⊗ I)ᵀ H⁻¹ (x_i ⊗ I), (n, k, k)."""

    curvature: LogisticCurvature

    @property
    def fitted(self) -> FittedLinear:
        return self.curvature.fitted

    def exact(self, rows: Rows, inverse: Array) -> Array:
        """M_i = (x_i ⊗ I)ᵀ H⁻¹ (x_i ⊗ I), (n, k, k), from H⁻¹ itself."""
        k, d = self.fitted.columns, rows.X.shape[1]
        blocks = inverse.reshape(len(inverse) // k, k, len(inverse) // k, k)
        forms = np.empty((len(rows), k, k))
        for a in range(k):
            for b in range(a, k):
                A = blocks[:, a, :, b]
                form = rows.X.quadratic(np.ascontiguousarray(A[:d, :d]))
                if self.fitted.intercept:
                    form += rows.X.dot(A[:d, d] + A[d, :d]) + A[d, d]
                forms[:, a, b] = forms[:, b, a] = form
        return forms

    def exact_work(self, rows: Rows) -> float:
        (n, d), k, stored = rows.X.shape, self.fitted.columns, rows.X.stored
        pairs = k * (k + 1) / 2
        if not rows.X.sparse:
            return pairs * 2 * n * d**2 / BLAS_SPEED
        # A sparse Gram matrix finds the place of each product of two entries of a row.
        return pairs * (10 * stored**2 / max(1, n) + 10 * d**2 + stored * d)

    def in_rows(self, rows: Rows) -> Array | None:
        return forms_in_rows(self.curvature) if rows is self.curvature.over else None

    def in_rows_work(self, rows: Rows) -> tuple[float, int] | None:
        if rows is not self.curvature.over:
            return None
        return in_rows.work(self.curvature), in_rows.bytes_needed(self.curvature)

    def noise(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """b = (Σ √ω_i E_i e_i + e/√C) / √n with e_i of covariance W_i and e of covariance I but for
        the intercepts; s₀ = √(nC) e, which is H⁻¹ b where the rows say nothing."""
        state, y = self.curvature.state, self.curvature.over.y
        E = rng.standard_normal((self.curvature.rows, self.fitted.columns, count))
        if self.fitted.columns == 1:
            E *= np.sqrt(self.fitted.bends(state, y))[:, :, None]
        else:
            P = state[:, :, None]
            E *= np.sqrt(P)  # covariance diag(p); less p times the sum, diag(p) − p pᵀ
            E -= P * E.sum(axis=1, keepdims=True)
        if self.curvature.weights is not None:
            E *= np.sqrt(self.curvature.weights)[:, None, None]
        B = transposed(
            self.curvature.over, E.reshape(self.curvature.rows, -1), self.fitted.intercept
        )
        d = self.curvature.over.X.shape[1]
        ridge = np.zeros(B.shape)
        ridge[:d] = rng.standard_normal((d, B.shape[1]))
        B += ridge / np.sqrt(self.fitted.C)
        B /= np.sqrt(self.curvature.rows)
        ridge *= np.sqrt(self.curvature.scale)
        shape = self.curvature.size, count
        return B.reshape(shape), ridge.reshape(shape)

    def free(self) -> Array | None:
        k = self.fitted.columns
        return (
            np.eye(self.curvature.size, k, k - self.curvature.size)
            if self.fitted.intercept
            else None
        )

    def known(self, rows: Rows, solved: Array | None) -> Array:
        """nC ‖x_i‖² I + c_i + c_iᵀ with c_i = E_iᵀ H⁻¹ F, since E_iᵀ s and E_iᵀ s₀ have the
        covariance E_iᵀ H⁻¹ (E_i without the intercept) = M_i − c_i."""
        known = self.curvature.scale * rows.X.row_squares()[:, None, None]
        known = known * np.eye(self.fitted.columns)
        if solved is not None:
            c = self.scores(rows, solved)
            known += c + c.transpose(0, 2, 1)
        return np.asarray(known)

    def scores(self, rows: Rows, S: Array) -> Array:
        k = self.fitted.columns
        U = product(rows, S.reshape(self.curvature.size // k, -1), self.fitted.intercept)
        return U.reshape(len(rows), k, -1)

    def inner(self, rows: Rows) -> Array:
        """W_i, (n, k, k)."""
        if self.fitted.columns == 1:
            return self.fitted.row_bends(rows)[:, :, None]
        P = self.fitted.probabilities(rows)
        return P[:, :, None] * (np.eye(P.shape[1]) - P[:, None, :])

    def leverage(self, rows: Rows, forms: Array) -> Array:
        return np.einsum("iab,iba->i", self.inner(rows), forms) / self.curvature.rows

    def corrected(self, rows: Rows, s: Array, forms: Array) -> Array:
        k = self.fitted.columns
        E = product(rows, s.reshape(-1, k), self.fitted.intercept)
        A = np.eye(k) - self.inner(rows) @ forms / self.curvature.rows
        solved = np.linalg.solve(A, self.curvature.residuals(rows)[:, :, None])[:, :, 0]
        return -np.einsum("ik,ik->i", E, solved)

    def self_influence(self, rows: Rows, forms: Array) -> Array:
        R = self.curvature.residuals(rows)
        return -np.einsum("ia,iab,ib->i", R, forms, R)

    def loo_probability(self, rows: Rows, forms: Array) -> Array:
        return self.fitted.probabilities_at(self._loo_scores(rows, forms))

    def loo_loss(self, rows: Rows, forms: Array) -> Array:
        return self.fitted.losses_at(self._loo_scores(rows, forms), rows.y)

    def _loo_scores(self, rows: Rows, forms: Array) -> Array:
        """Z_i + (I − M_i W_i / n)⁻¹ M_i r_i / n, (n, k): one Newton step without row i moves the
        parameters by (H − E_i W_i E_iᵀ / n)⁻¹ E_i r_i / n, and by Woodbury's identity its scores by
        that. In the binary case z_i + h_i r_i / (w_i (1 − h_i))."""
        R, n = self.curvature.residuals(rows), self.curvature.rows
        A = np.eye(self.fitted.columns) - forms @ self.inner(rows) / n
        moves = np.linalg.solve(A, forms @ R[:, :, None])[:, :, 0]
        return self.fitted.scores(rows) + moves / n
