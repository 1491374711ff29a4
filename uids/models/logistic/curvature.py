"""Losses, probabilities and curvature of logistic regression, binary and softmax."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg.blas import daxpy
from scipy.special import expit, log_softmax, softmax

from uids.backends import Array
from uids.models import Rows

HEAD_ENTRIES = 5_000_000  # stored: a product then costs a tenth of what the head does
WIDE = 16  # columns for each row, from which a solve in the space of the rows is quicker,
WIDE_ONES = 64  # and where all values are 1, for which the preconditioner has a head
SPARSE = 0.05  # share of entries stored, up to which columns are taken for one-hot or words


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
    known: Array | None = None  # p_i as (n, k), where the caller has them: a pass over X less

    @property
    def size(self) -> int:
        return len(self.at.theta)

    @property
    def rows(self) -> int:
        return len(self.over)

    @property
    def scale(self) -> float:
        return self.rows * self.at.C

    @property
    def columns(self) -> int:
        return self.at.columns

    @property
    def without_blas(self) -> bool:
        """Whether the backend's products leave BLAS alone."""
        return getattr(self.over.X, "without_blas", False)

    @property
    def dense_cost(self) -> float:
        """About how many products with H the dense form costs: a Gram matrix for each pair of
        classes, by matrix multiplication, which is some ten times quicker than as many vectors."""
        k = self.at.columns
        return max(k * (k + 1) / 2, (k + 1) * self.over.X.shape[1] / 80)

    @cached_property
    def _p(self) -> Array:  # (n, k)
        if self.known is not None:
            return self.known
        if self.at.classes == 2:
            Z = self.at.scores(self.over)
            return np.asarray(expit(Z, out=Z))
        return self.at.probabilities(self.over)

    def _weigh(self, U: Array, P: Array, weights: Array | None) -> Array:
        """W_i U_i for each row, in place; U is (n, k, m)."""
        P = P[:, :, None]
        if self.at.classes == 2:
            U *= P * (1 - P)
        else:
            U -= np.einsum("ikz,ikm->im", P, U)[:, None]
            U *= P
        if weights is not None:
            U *= weights[:, None, None]
        return U

    def dot(self, V: Array) -> Array:
        if self.at.classes == 2:
            return self._dot_binary(V)
        return self._dot(V, self.over, self._p, self.weights, 1.0)

    def dot_rows(self, V: Array, index: Array) -> Array:
        weights = None if self.weights is None else self.weights[index]
        return self._dot(V, self.over.take(index), self._p[index], weights, self.rows / len(index))

    @cached_property
    def _w(self) -> Array:  # ω_i p_i (1 − p_i) / n, binary
        w = self.row_curvature()[:, 0]
        w /= self.rows
        return w

    @cached_property
    def _xw(self) -> Array:  # Xᵀ w
        return self.over.X.tdot(self._w)

    def _dot_binary(self, V: Array) -> Array:
        """With the backend's fused Xᵀ(w ∘ (X V)); the intercept needs only Xᵀw beside it."""
        if V.ndim == 2 and V.shape[1] == 1:
            # One vector as a vector: the loops for several take three times as long for it.
            return self._dot_binary(V[:, 0])[:, None]
        top = np.ascontiguousarray(V[: self.over.X.shape[1]])
        result = self.over.X.gram_dot(self._w, top)
        add(top, result, 1 / self.scale)
        if not self.at.intercept:
            return result
        result += self._xw[:, None] * V[-1] if V.ndim == 2 else self._xw * V[-1]
        last = self._xw @ top + self._w.sum() * V[-1]
        return np.concatenate([result, np.expand_dims(last, 0)])

    def scored_dot(self, s: Array, scores: Array | None = None) -> tuple[Array, Array | None]:
        """H s for one vector, and the scores x_iᵀ s that come up on the way; half the work where
        they are known. None for softmax, which has no use for them here."""
        if self.at.classes > 2:
            return self.dot(s), None
        if scores is not None:
            product = self.over.X.tdot(self._w * scores)
        else:
            top = np.ascontiguousarray(s[: self.over.X.shape[1]])
            product, scores = self.over.X.scored_dot(self._w, top)
            if self.at.intercept:
                product += self._xw * s[-1]
                scores += s[-1]
        add(s[: len(product)], product, 1 / self.scale)
        if self.at.intercept:
            product = np.append(product, np.einsum("i,i->", self._w, scores))
        return product, scores

    def own_products(self, scores: Array) -> Array:
        """``row_products`` of the rows that it is over, from their scores."""
        products = self._residuals(self.over)[:, 0]
        products *= scores
        return products

    def _dot(self, V: Array, rows: Rows, P: Array, weights: Array | None, scale: float) -> Array:
        k, b = self.at.columns, self.at.intercept
        T = V.reshape(self.size // k, -1)  # (d + b, k m)
        U = _product(rows, T, b).reshape(len(rows), k, -1)
        result = transposed(rows, self._weigh(U, P, weights).reshape(len(rows), -1), b)
        result *= scale / self.rows
        penalised = len(T) - b
        result[:penalised] += T[:penalised] / (self.at.C * self.rows)
        if b and k > 1:
            mean = T[-1].reshape(k, -1).mean(axis=0) / self.rows
            result[-1] += np.repeat([mean], k, axis=0).ravel()
        return result.reshape(V.shape)

    def row_curvature(self, index: Array | slice = slice(None)) -> Array:
        """ω_i p_i (1 − p_i), (n, k), or those of some rows."""
        P = self._p[index]
        W = 1 - P
        W *= P
        if self.weights is not None:
            W *= self.weights[index, None]
        return W

    def preconditioner(self) -> Callable[[Array], Array] | None:
        """r ↦ M⁻¹ r for binary models of a shape for which one is known to pay."""
        if self.at.classes > 2:
            return None
        if not sp.issparse(self.over.X.source):
            from uids.models.logistic.row_sample import sampled, suits

            return sampled(self) if suits(self) else None
        if not self.long_tailed:
            return None
        from uids.models.logistic.head import preconditioner

        return preconditioner(self, self.one_hot and self.over.X.source.nnz >= HEAD_ENTRIES)

    def dual(self) -> Any | None:
        """The same equation in the space of the rows, where that is known to pay."""
        n, d = self.over.X.shape
        if self.at.classes > 2 or not sp.issparse(self.over.X.source):
            return None
        if d < (WIDE_ONES if self.one_hot else WIDE) * n:
            return None
        from uids.models.logistic.dual import Dual

        found = Dual(self)
        return found if found.square > 0 else None

    @property
    def long_tailed(self) -> bool:
        """Whether X is as sparse as one-hot columns and words are. Those have a long tail, on which
        the mixed diagonal is known to pay, without a trial."""
        X = self.over.X.source  # of which the rows may be a part, and then just as sparse
        return sp.issparse(X) and X.nnz <= SPARSE * X.shape[0] * X.shape[1]

    @property
    def one_hot(self) -> bool:
        """Long-tailed, and the stored values all 1 as far as the first and last thousand tell:
        columns that add up, which words with weights do not."""
        if not self.long_tailed:
            return False
        data = self.over.X.source.data
        return bool((data[:1000] == 1).all() and (data[-1000:] == 1).all())

    def diagonal(self) -> Array:
        # The paper prints (ŷ − y) where p (1 − p) belongs; that is a mistake, which can make the
        # diagonal of a positive definite matrix negative.
        W = self.row_curvature()
        # One vector as a vector, as in the product.
        square = self.over.X.square_tdot(W[:, 0] if W.shape[1] == 1 else W)
        diagonal = square.reshape(-1, W.shape[1])
        diagonal += 1 / self.at.C
        if self.at.intercept:
            gauge = 1 / self.at.columns if self.at.columns > 1 else 0.0
            diagonal = np.vstack([diagonal, W.sum(axis=0) + gauge])
        diagonal /= self.rows
        return diagonal.ravel()

    def dense(self) -> Array:
        k, b = self.at.columns, int(self.at.intercept)
        d = self.over.X.shape[1]
        pairs = np.zeros((d + b, k, d + b, k))
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
                pairs[:, i, :, j] = pairs[:, j, :, i] = block
        H = pairs.reshape(self.size, self.size)
        penalised = np.arange(d * k)
        H[penalised, penalised] += 1 / self.at.C
        H /= self.rows
        return H

    def gradient(self, rows: Rows) -> Array:
        return transposed(rows, self.at.residuals(rows), self.at.intercept).ravel()

    def gradient_norms(self, rows: Rows) -> Array:
        # ∇l_i is the outer product of x_i (with its 1, if there is an intercept) and r_i.
        square = np.full(len(rows), float(self.at.intercept))
        for start, block in rows.X.blocks():
            part = square[start : start + block.shape[0]]
            if sp.issparse(block):
                part += np.asarray(block.multiply(block).sum(axis=1)).ravel()
            else:
                part += np.einsum("ij,ij->i", block, block)
        return np.sqrt(square) * np.linalg.norm(self._residuals(rows), axis=1)

    def row_gradients(self, rows: Rows) -> Array:
        return outer(rows, self._residuals(rows), self.at.intercept)

    def _residuals(self, rows: Rows) -> Array:
        if rows is not self.over:
            return self.at.residuals(rows)
        R = self._p.copy()  # known already: no further pass over X
        if self.at.classes == 2:
            R[:, 0] -= rows.y
        else:
            R[np.arange(len(rows)), rows.y] -= 1
        return R

    def row_products(self, rows: Rows, S: Array) -> Array:
        k = self.at.columns
        U = _product(rows, S.reshape(self.size // k, -1), self.at.intercept)
        U = U.reshape(len(rows), k, -1)
        products = np.einsum("ikm,ik->im", U, self._residuals(rows))
        return products.reshape(len(rows), *S.shape[1:])

    def row_forms(self, rows: Rows, inverse: Array) -> Array:
        """M_i = (x_i ⊗ I)ᵀ H⁻¹ (x_i ⊗ I), (n, k, k), from H⁻¹ itself."""
        k, D = self.at.columns, self.size // self.at.columns
        S = inverse.reshape(D, k * D * k)
        forms = np.empty((len(rows), k, k))
        height = max(1, 2**22 // (k * self.size))
        for start, block in rows.X.blocks(height):
            X = block.toarray() if sp.issparse(block) else block
            if self.at.intercept:
                X = np.hstack([X, np.ones((len(X), 1))])
            half = (X @ S).reshape(len(X), k, D, k)
            forms[start : start + height] = np.einsum("iajb,ij->iab", half, X)
        return forms

    def noise(self, count: int, rng: np.random.Generator) -> Array:
        """``count`` Gaussian vectors with covariance H: the columns of (size, count)."""
        P = self._p[:, :, None]
        E = rng.standard_normal((self.rows, self.at.columns, count))
        if self.at.classes == 2:
            E *= np.sqrt(P * (1 - P))
        else:
            E *= np.sqrt(P)  # covariance diag(p); less p times the sum, diag(p) − p pᵀ
            E -= P * E.sum(axis=1, keepdims=True)
        if self.weights is not None:
            E *= np.sqrt(self.weights)[:, None, None]
        B = transposed(self.over, E.reshape(self.rows, -1), self.at.intercept)
        d = self.over.X.shape[1]
        B[:d] += rng.standard_normal(B[:d].shape) / np.sqrt(self.at.C)
        return B.reshape(self.size, count) / np.sqrt(self.rows)

    def row_forms_estimate(self, rows: Rows, S: Array) -> Array:
        """M_i from vectors S with covariance H⁻¹: the mean of (x_iᵀ s)(x_iᵀ s)ᵀ."""
        k, count = self.at.columns, S.shape[1]
        U = _product(rows, S.reshape(self.size // k, -1), self.at.intercept)
        U = U.reshape(len(rows), k, count)
        return np.einsum("iam,ibm->iab", U, U) / count

    def _inner(self, rows: Rows) -> Array:
        """W_i, (n, k, k)."""
        P = self.at.probabilities(rows)
        if self.at.classes == 2:
            return (P[:, 0] * P[:, 1])[:, None, None]
        return P[:, :, None] * (np.eye(P.shape[1]) - P[:, None, :])

    def leverage(self, rows: Rows, forms: Array) -> Array:
        return np.einsum("iab,iba->i", self._inner(rows), forms) / self.rows

    def corrected(self, rows: Rows, s: Array, forms: Array) -> Array:
        k = self.at.columns
        E = _product(rows, s.reshape(-1, k), self.at.intercept)
        A = np.eye(k) - self._inner(rows) @ forms / self.rows
        solved = np.linalg.solve(A, self._residuals(rows)[:, :, None])[:, :, 0]
        return -np.einsum("ik,ik->i", E, solved)

    def self_influence(self, rows: Rows, forms: Array) -> Array:
        R = self._residuals(rows)
        return -np.einsum("ia,iab,ib->i", R, forms, R)

    def penalty_product(self, s: Array) -> float:
        penalised = self.size - self.at.columns * self.at.intercept
        return float(self.at.theta[:penalised] @ s[:penalised] / self.at.C)


def _product(rows: Rows, T: npt.NDArray[Any], intercept: bool) -> Array:
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


def outer(rows: Rows, R: Array, intercept: bool) -> Array:
    """The outer products of x_i (with its 1, if there is an intercept) and R_i, as columns; dense,
    and so only for as many rows as the caller has room for."""
    X = rows.X.X.toarray() if sp.issparse(rows.X.X) else rows.X.X
    if intercept:
        X = np.hstack([X, np.ones((len(rows), 1))])
    return np.einsum("ij,ik->jki", X, R).reshape(X.shape[1] * R.shape[1], -1)
