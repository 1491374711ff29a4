"""Losses, probabilities and curvature of logistic regression, binary and softmax."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax, softmax

from uids.backends import Array
from uids.models import Rows


@dataclass(frozen=True)
class FittedLogistic:
    """Logistic regression at Θ, of shape (d + b, k) with b = 1 if there is an intercept.

    Binary: k = 1 and p_i = σ(x_iᵀ Θ). K ≥ 3 classes: k = K and p_i = softmax(x_iᵀ Θ).
    The intercepts are the last row of Θ and are not penalised; ``theta`` is Θ row by row.
    """

    theta: Array
    classes: int
    C: float
    intercept: bool

    @property
    def columns(self) -> int:
        return 1 if self.classes == 2 else self.classes

    def scores(self, rows: Rows) -> Array:
        """Z = X Θ, (n, k)."""
        theta = self.theta.reshape(-1, self.columns)
        return _product(rows, theta, self.intercept)

    def probabilities(self, rows: Rows) -> Array:
        Z = self.scores(rows)
        if self.classes == 2:
            return np.hstack([expit(-Z), expit(Z)])
        return np.asarray(softmax(Z, axis=1))

    def losses(self, rows: Rows) -> Array:
        Z = self.scores(rows)
        if self.classes == 2:
            z = Z[:, 0]
            return np.logaddexp(0, z) - rows.y * z
        return -np.asarray(log_softmax(Z, axis=1))[np.arange(len(rows)), rows.y]

    def residuals(self, rows: Rows) -> Array:
        """∂l_i/∂z_i = p_i − e(y_i), (n, k): ∇l_i is the outer product of x_i and this."""
        P = self.probabilities(rows)
        P[np.arange(len(rows)), rows.y] -= 1
        return P[:, 1:] if self.classes == 2 else P

    def curvature(self, rows: Rows, weights: Array | None = None) -> LogisticCurvature:
        return LogisticCurvature(self, rows, weights)


@dataclass(frozen=True)
class LogisticCurvature:
    """H = (1/n) (Σ_i ω_i x_i x_iᵀ ⊗ W_i + I/C), the last term without the intercepts.

    W_i is p_i (1 − p_i) in the binary case and diag(p_i) − p_i p_iᵀ for softmax. The softmax
    model does not change when all K intercepts move together, so H is singular along that one
    direction; every gradient is orthogonal to it. The term 𝟏𝟏ᵀ/K on the intercepts makes H
    positive definite and leaves H⁻¹ of any gradient as it is.
    """

    at: FittedLogistic
    over: Rows
    weights: Array | None = None

    @property
    def size(self) -> int:
        return len(self.at.theta)

    @property
    def rows(self) -> int:
        return len(self.over)

    @cached_property
    def _p(self) -> Array:  # (n, k)
        P = self.at.probabilities(self.over)
        return P[:, 1:] if self.at.classes == 2 else P

    def _weigh(self, U: Array, P: Array, weights: Array | None) -> Array:
        """W_i U_i for each row, in place; U is (n, k, m)."""
        P = P[:, :, None]
        if self.at.classes == 2:
            U *= P * (1 - P)
        else:
            U -= (P * U).sum(axis=1, keepdims=True)
            U *= P
        if weights is not None:
            U *= weights[:, None, None]
        return U

    def dot(self, V: Array) -> Array:
        return self._dot(V, self.over, self._p, self.weights, 1.0)

    def dot_rows(self, V: Array, index: Array) -> Array:
        weights = None if self.weights is None else self.weights[index]
        return self._dot(V, self.over.take(index), self._p[index], weights, self.rows / len(index))

    def _dot(self, V: Array, rows: Rows, P: Array, weights: Array | None, scale: float) -> Array:
        k, b = self.at.columns, self.at.intercept
        T = V.reshape(self.size // k, -1)  # (d + b, k m)
        U = _product(rows, T, b).reshape(len(rows), k, -1)
        result = _transposed(rows, self._weigh(U, P, weights).reshape(len(rows), -1), b)
        result *= scale
        penalised = len(T) - b
        result[:penalised] += T[:penalised] / self.at.C
        if b and k > 1:
            result[-1] += np.repeat([T[-1].reshape(k, -1).mean(axis=0)], k, axis=0).ravel()
        return result.reshape(V.shape) / self.rows

    def diagonal(self) -> Array:
        # The paper prints (ŷ − y) where p (1 − p) belongs; that is a mistake, which can make the
        # diagonal of a positive definite matrix negative.
        W = self._p * (1 - self._p)
        if self.weights is not None:
            W *= self.weights[:, None]
        diagonal = self.over.X.square_tdot(W) + 1 / self.at.C
        if self.at.intercept:
            gauge = 1 / self.at.columns if self.at.columns > 1 else 0.0
            diagonal = np.vstack([diagonal, W.sum(axis=0) + gauge])
        return diagonal.ravel() / self.rows

    def dense(self) -> Array:
        k, b = self.at.columns, int(self.at.intercept)
        d = self.over.X.shape[1]
        blocks = np.zeros((d + b, k, d + b, k))
        for i in range(k):
            for j in range(i, k):
                p, q = self._p[:, i], self._p[:, j]
                w = p * (1 - p) if i == j else -p * q
                if self.weights is not None:
                    w = w * self.weights
                block = np.empty((d + b, d + b))
                block[:d, :d] = self.over.X.gram(w)
                if b:
                    block[-1, :d] = block[:d, -1] = self.over.X.tdot(w)
                    block[-1, -1] = w.sum() + (1 / k if k > 1 else 0.0)
                blocks[:, i, :, j] = blocks[:, j, :, i] = block
        H = blocks.reshape(self.size, self.size)
        penalised = np.arange(d * k)
        H[penalised, penalised] += 1 / self.at.C
        H /= self.rows
        return H

    def gradient(self, rows: Rows) -> Array:
        return _transposed(rows, self.at.residuals(rows), self.at.intercept).ravel()

    def row_products(self, rows: Rows, S: Array) -> Array:
        k = self.at.columns
        U = _product(rows, S.reshape(self.size // k, -1), self.at.intercept)
        U = U.reshape(len(rows), k, -1)
        products = np.einsum("ikm,ik->im", U, self.at.residuals(rows))
        return products.reshape(len(rows), *S.shape[1:])

    def penalty_product(self, s: Array) -> float:
        penalised = self.size - self.at.columns * self.at.intercept
        return float(self.at.theta[:penalised] @ s[:penalised] / self.at.C)


def _product(rows: Rows, T: npt.NDArray[Any], intercept: bool) -> Array:
    """X T, the last row of T being the intercepts."""
    if not intercept:
        return rows.X.dot(T)
    result = rows.X.dot(np.ascontiguousarray(T[:-1]))
    result += T[-1]
    return result


def _transposed(rows: Rows, U: Array, intercept: bool) -> Array:
    """Xᵀ U, with the sums of U below it where there is an intercept."""
    result = rows.X.tdot(U)
    return np.vstack([result, U.sum(axis=0)]) if intercept else result
