"""H of a linear model: its products, its diagonal, and all of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from uids.backends import Array, weigh_classes
from uids.models.logistic.products import add, centred, peak, transposed, weighed_dot
from uids.models.model import Objective
from uids.models.rows import Rows
from uids.system.tuning import PRECONDITIONING, Preconditioning

if TYPE_CHECKING:
    from uids.models.logistic.scored import FittedLinear


@dataclass(frozen=True)
class LogisticHessian(Objective):
    """H = (1/n) (Σ_i ω_i x_i x_iᵀ ⊗ W_i + I/C), the last term without the intercepts.

    W_i is l″_i where a row has one score, p_i (1 − p_i) for logistic regression, and
    diag(p_i) − p_i p_iᵀ for softmax. The softmax
    model does not change when all K intercepts move together, so H is singular along that one
    direction; every gradient is orthogonal to it. The term 𝟏𝟏ᵀ/K on the intercepts makes H
    positive definite and leaves H⁻¹ of any gradient as it is.
    """

    fitted: FittedLinear
    over: Rows
    weights: Array | None = None
    known: Array | None = None  # the states, where the caller has them: a pass over X less
    tuning: Preconditioning = PRECONDITIONING

    @property
    def size(self) -> int:
        return len(self.fitted.theta)

    @property
    def rows(self) -> int:
        return len(self.over)

    @property
    def scale(self) -> float:
        return self.rows * self.fitted.C

    @property
    def columns(self) -> int:
        return self.fitted.columns

    @property
    def product_work(self) -> float:
        return 2.0 * self.over.X.stored * self.columns

    def uses_blas(self, columns: int) -> bool:
        return self.over.X.uses_blas(columns * self.columns)

    @property
    def dense_cost(self) -> float:
        """About how many products with H the dense form costs: a Gram matrix for each pair of
        classes, by matrix multiplication, which is some ten times quicker than as many vectors."""
        k = self.fitted.columns
        return max(k * (k + 1) / 2, (k + 1) * self.over.X.shape[1] / 80)

    @cached_property
    def state(self) -> Array:
        """Of the rows that it is over, (n, k): p_i for logistic regression."""
        return self.fitted.state(self.over) if self.known is None else self.known

    def dot(self, V: Array) -> Array:
        if self.columns == 1:
            return self._dot_single(V)
        return self._dot(V, self.over, self._held_state, self._held_weights, 1.0)

    @property
    def rough(self) -> bool:
        """Whether there is a quicker ``rough_dot``."""
        return self.columns > 1 and self.over.X.rough

    def rough_dot(self, V: Array) -> Array:
        """H V of one vector whose k numbers of a column have no mean, as no direction of a fit has;
        to six digits or so where that takes less time, the next gradient being exact. In float32,
        into whose range V is brought."""
        size = peak(V)
        if not (self.rough and size > 0):
            return self.dot(V)
        product = self._dot(V / size, self.over, self._held_state, self._held_weights, 1.0, True)
        if not np.isfinite(product).all():
            return self.dot(V)
        product *= size
        # Rounding alone leaves a mean there, which a preconditioner that takes it out never sees.
        return centred(product, self.columns)

    def dot_rows(self, V: Array, index: Array) -> Array:
        weights = None if self.weights is None else self.weights[index]
        return self._dot(
            V, self.over.take(index), self.state[index], weights, self.rows / len(index)
        )

    @cached_property
    def _w(self) -> Array:  # ω_i W_i / n, of one score a row
        w = self.row_curvature()[:, 0]
        w /= self.rows
        return w

    @cached_property
    def _held_w(self) -> Any:
        return self.over.X.hold(self._w)

    @cached_property
    def _held_state(self) -> Any:
        return self.over.X.hold(self.state)

    @cached_property
    def _held_weights(self) -> Any:
        return None if self.weights is None else self.over.X.hold(self.weights)

    @cached_property
    def _xw(self) -> Array:  # Xᵀ w
        return self.over.X.tdot(self._w)

    def _dot_single(self, V: Array) -> Array:
        """With the backend's fused Xᵀ(w ∘ (X V)); the intercept needs only Xᵀw beside it."""
        if V.ndim == 2 and V.shape[1] == 1:
            # One vector as a vector: the loops for several take three times as long for it.
            return self._dot_single(V[:, 0])[:, None]
        top = np.ascontiguousarray(V[: self.over.X.shape[1]])
        result = self.over.X.gram_dot(self._held_w, top)
        add(top, result, 1 / self.scale)
        if not self.fitted.intercept:
            return result
        result += self._xw[:, None] * V[-1] if V.ndim == 2 else self._xw * V[-1]
        intercepts = self._xw @ top + self._w.sum() * V[-1]
        return np.concatenate([result, np.expand_dims(intercepts, 0)])

    def scored_dot(self, s: Array, scores: Array | None = None) -> tuple[Array, Array | None]:
        """H s for one vector, and the scores x_iᵀ s that come up on the way; half the work where
        they are known. None for softmax, whose products do not pass through them at once."""
        if self.columns > 1 and scores is None:
            return self.dot(s), None
        if scores is not None and self.columns > 1:
            U = scores.copy()
            weigh_classes(U, self.state, self.weights)
            result = transposed(self.over, U, self.fitted.intercept)
            return self._with_ridge(result, s.reshape(result.shape), 1.0).reshape(-1), scores
        if scores is not None:
            product = self.over.X.tdot(self._w * scores)
        else:
            top = np.ascontiguousarray(s[: self.over.X.shape[1]])
            product, scores = self.over.X.scored_dot(self._held_w, top)
            if self.fitted.intercept:
                product += self._xw * s[-1]
                scores += s[-1]
        add(s[: len(product)], product, 1 / self.scale)
        if self.fitted.intercept:
            product = np.append(product, np.einsum("i,i->", self._w, scores))
        return product, scores

    def _dot(
        self,
        V: Array,
        rows: Rows,
        state: Array,
        weights: Array | None,
        scale: float,
        rough: bool = False,
    ) -> Array:
        k, b = self.fitted.columns, self.fitted.intercept
        T = V.reshape(self.size // k, -1)  # (d + b, k m)
        top, shift = np.ascontiguousarray(T[: len(T) - b]), T[-1] if b else None
        if k > 1:
            top = top.astype(np.float32) if rough else top
            result, sums = rows.X.class_dot(state, weights, top, shift)
        else:
            w = self.fitted.bends(state, rows.y)[:, 0]
            w = w if weights is None else w * weights
            result, sums = weighed_dot(rows.X, w, top, shift)
        if sums is not None:  # of the weighed scores, which the intercepts take
            result = np.vstack([result, sums])
        return self._with_ridge(result, T, scale).reshape(V.shape)

    def _with_ridge(self, result: Array, T: Array, scale: float) -> Array:
        """H T from Σ_i x_i ⊗ W_i x_iᵀ T, in place."""
        k, b = self.fitted.columns, self.fitted.intercept
        result *= scale / self.rows
        penalised = len(T) - b
        add(T[:penalised], result[:penalised], 1 / (self.fitted.C * self.rows))
        if b and k > 1:
            mean = T[-1].reshape(k, -1).mean(axis=0) / self.rows
            result[-1] += np.repeat([mean], k, axis=0).ravel()
        return result

    def row_curvature(self, index: Array | slice = slice(None)) -> Array:
        """ω_i times the diagonal of W_i, (n, k), or those of some rows."""
        W = self.fitted.bends(self.state[index], self.over.y[index])
        if self.weights is not None:
            W *= self.weights[index, None]
        return W

    def diagonal(self) -> Array:
        # The paper prints (ŷ − y) where p (1 − p) belongs; that is a mistake, which can make the
        # diagonal of a positive definite matrix negative.
        W = self.row_curvature()
        # One vector as a vector, as in the product.
        square = self.over.X.square_tdot(W[:, 0] if W.shape[1] == 1 else W)
        diagonal: Array = square.reshape(-1, W.shape[1])
        diagonal += 1 / self.fitted.C
        if self.fitted.intercept:
            gauge = 1 / self.fitted.columns if self.fitted.columns > 1 else 0.0
            diagonal = np.vstack([diagonal, W.sum(axis=0) + gauge])
        diagonal /= self.rows
        return diagonal.ravel()

    def dense(self) -> Array:
        k, b = self.fitted.columns, int(self.fitted.intercept)
        d = self.over.X.shape[1]
        pairs = np.zeros((d + b, k, d + b, k))
        for i in range(k):
            for j in range(i, k):
                w = self._pair(i, j)
                block = np.empty((d + b, d + b))
                block[:d, :d] = self.over.X.gram(w)
                if b:
                    block[-1, :d] = block[:d, -1] = self.over.X.tdot(w)
                    block[-1, -1] = w.sum() + (1 / k if k > 1 else 0.0)
                pairs[:, i, :, j] = pairs[:, j, :, i] = block
        H = pairs.reshape(self.size, self.size)
        penalised = np.arange(d * k)
        H[penalised, penalised] += 1 / self.fitted.C
        H /= self.rows
        return H

    def _pair(self, i: int, j: int) -> Array:
        """ω times the entries i, j of W, (n,)."""
        if self.columns == 1:
            w = self.fitted.bends(self.state, self.over.y)[:, 0]
        else:
            p, q = self.state[:, i], self.state[:, j]
            w = p * (1 - p) if i == j else -p * q
        return w if self.weights is None else w * self.weights
