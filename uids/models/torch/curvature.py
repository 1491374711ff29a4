"""The curvature of a torch model, by automatic differentiation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.func import grad, hessian, jacrev, jvp, vmap

from uids.backends import Array
from uids.models.logistic.products import outer, slopes
from uids.models.model import Objective
from uids.models.rows import Rows
from uids.models.torch.scores import LinearScores, Tensor, numpy
from uids.system.tuning import AUTODIFF, Autodiff

if TYPE_CHECKING:
    from uids.models.torch.fitted import FittedTorch


@dataclass(frozen=True)
class TorchCurvature(Objective):
    """H = (1/n) (Σ_i ω_i ∇²l_i + diag(penalised)/C) + damping · I.

    With Z_i(θ) the scores, ∇²l_i is Jᵀ (∂²l/∂Z²) J, the Gauss–Newton matrix, plus a term with the
    second derivative of Z. That term is 0 for a linear model; for a network it can make H
    indefinite, and is left out unless ``exact``.
    """

    fitted: FittedTorch
    over: Rows
    weights: Array | None = None
    tuning: Autodiff = AUTODIFF

    @property
    def size(self) -> int:
        return len(self.fitted.theta)

    @property
    def rows(self) -> int:
        return len(self.over)

    @property
    def scale(self) -> float:
        return 1 / (1 / (self.rows * self.fitted.C) + self.fitted.damping)

    @property
    def columns(self) -> int:
        return self.fitted.outputs

    @property
    def exact(self) -> bool:
        return self.fitted.damping == 0 and (self._linear or self.fitted.exact)

    @property
    def _linear(self) -> bool:
        return isinstance(self.fitted.scores, LinearScores)

    @property
    def dense_cost(self) -> float:
        if self._linear:
            return float(self.size)
        one = self.tuning.dense_exact if self.fitted.exact else self.tuning.dense_newton
        return self.size * (1 if self.fitted.exact else self.columns) / one

    @property
    def diagonal_cost(self) -> float:
        return float(min(self.size, self.tuning.diagonal_probes))

    @cached_property
    def _theta(self) -> Tensor:
        return self.fitted.to(self.fitted.theta)

    @cached_property
    def _data(self) -> tuple[Any, Tensor, Tensor | None]:
        weights = None if self.weights is None else self.fitted.to(self.weights)
        return self.fitted.scores.data(self.over.X), self.fitted.labels(self.over), weights

    def dot(self, V: Array) -> Array:
        return self._dot(V, *self._data, 1.0)

    def dot_rows(self, V: Array, index: Array) -> Array:
        some = self.over.take(index)
        weights = None if self.weights is None else self.fitted.to(self.weights[index])
        data = self.fitted.scores.data(some.X)
        return self._dot(V, data, self.fitted.labels(some), weights, self.rows / len(index))

    def _dot(self, V: Array, data: Any, y: Tensor, weights: Tensor | None, scale: float) -> Array:
        theta, scores = self._theta, self.fitted.scores
        linear = self._linear
        Z = scores.value(theta, data)

        def risk_of_scores(Z: Tensor) -> Tensor:
            losses = self.fitted.row_losses(Z, y)
            return losses.sum() if weights is None else (weights * losses).sum()

        def product(v: Tensor) -> Tensor:
            if self.fitted.exact and not linear:
                slope = grad(lambda t: risk_of_scores(scores.value(t, data)))
                return jvp(slope, (theta,), (v,))[1]
            U = scores.forward(theta, data, v)
            return scores.backward(theta, data, jvp(grad(risk_of_scores), (Z,), (U,))[1])

        columns = self.fitted.to(V.reshape(self.size, -1))
        together = 1 if linear else self.tuning.block // (len(y) * self.size)
        if together > 1 and columns.shape[1] > 1:
            curved = vmap(product, in_dims=1, out_dims=1, chunk_size=together)(columns)
        else:
            curved = torch.stack([product(v) for v in columns.T], dim=1)
        result = numpy(curved) * scale
        flat = V.reshape(self.size, -1)
        result += self.fitted.penalised[:, None] / self.fitted.C * flat
        if isinstance(scores, LinearScores) and scores.intercept and scores.columns > 1:
            # As in logreg: all intercepts can move together without effect; this term fixes that.
            result[-scores.columns :] += flat[-scores.columns :].mean(axis=0)
        return np.asarray(result / self.rows + self.fitted.damping * flat).reshape(V.shape)

    def diagonal(self) -> Array:
        if self.size <= self.tuning.diagonal_size:
            return np.diag(self.dense()).copy()
        # Hutchinson: the mean of z ∘ H z over random signs z. Below the ridge it cannot be.
        rng = np.random.default_rng(0)
        total = np.zeros(self.size)
        for _ in range(self.tuning.diagonal_probes):
            z = rng.choice([-1.0, 1.0], self.size)
            total += z * self.dot(z)
        return np.maximum(total / self.tuning.diagonal_probes, 1 / self.scale)

    def dense(self) -> Array:
        if self.size <= self.tuning.dense_kept:
            return self._kept.copy()  # whoever factorises it overwrites it
        return self._dense()

    @cached_property
    def _kept(self) -> Array:
        return self._dense()

    def _dense(self) -> Array:
        if self._linear or self.fitted.exact:
            H = self.dot(np.eye(self.size))
            return np.asarray((H + H.T) / 2)
        H = self._gauss_newton() / self.rows
        H[np.diag_indices(self.size)] += self.fitted.penalised / self.fitted.C / self.rows
        H[np.diag_indices(self.size)] += self.fitted.damping
        return H

    def _gauss_newton(self) -> Array:
        """Σ_i ω_i J_iᵀ (∂²l_i/∂Z²) J_i from the Jacobians of some rows at a time, (size, size): one
        matrix product for them, where products with unit vectors are ``size`` passes."""
        data, y, weights = self._data
        theta, scores, losses = self._theta, self.fitted.scores, self.fitted.row_losses
        Z = scores.value(theta, data).detach()
        jacobian = vmap(jacrev(lambda t, x: scores.value(t, x[None])[0]), in_dims=(None, 0))
        bend = vmap(hessian(lambda z, label: losses(z[None], label[None])[0]))
        total = torch.zeros((self.size, self.size), dtype=self.fitted.dtype, device=theta.device)
        height = max(1, self.tuning.block // (4 * self.size * self.columns))
        for first in range(0, len(y), height):
            part = slice(first, first + height)
            J, B = jacobian(theta, data[part]), bend(Z[part], y[part])
            if weights is not None:
                B = B * weights[part, None, None]
            total += (B @ J).reshape(-1, self.size).T @ J.reshape(-1, self.size)
        H = numpy(total)
        return np.asarray((H + H.T) / 2)

    def _slopes(self, rows: Rows) -> tuple[Any, Tensor]:
        """(data, ∂l_i/∂Z_i)."""
        data, Z = self.fitted.evaluate(rows)
        y = self.fitted.labels(rows)
        return data, grad(lambda z: self.fitted.row_losses(z, y).sum())(Z)

    def gradient(self, rows: Rows) -> Array:
        data, slopes = self._slopes(rows)
        return numpy(self.fitted.scores.backward(self._theta, data, slopes))

    def row_products(self, rows: Rows, S: Array, scores: Array | None = None) -> Array:
        if S.ndim == 2 and S.shape[1] > 1 and not isinstance(self.fitted.scores, LinearScores):
            # The gradients of some rows at a time: one pass through the network for all columns.
            parts = [self.row_gradients(rows.take(part)).T @ S for part in self._parts(rows)]
            return np.concatenate(parts)
        data, slopes = self._slopes(rows)
        columns = self.fitted.to(S.reshape(self.size, -1))
        products = [
            (self.fitted.scores.forward(self._theta, data, s) * slopes).sum(dim=1)
            for s in columns.T
        ]
        return numpy(torch.stack(products, dim=1)).reshape(len(rows), *S.shape[1:])

    def gradient_norms(self, rows: Rows) -> Array:
        norms = [
            np.linalg.norm(self.row_gradients(rows.take(part)), axis=0)
            for part in self._parts(rows)
        ]
        return np.concatenate(norms)

    def _parts(self, rows: Rows) -> list[Array]:
        """The rows, as many at a time as gradients may be held."""
        height = max(1, 2**22 // max(self.size, len(rows)))
        return [np.arange(i, min(i + height, len(rows))) for i in range(0, len(rows), height)]

    def row_gradients(self, rows: Rows) -> Array:
        if isinstance(self.fitted.scores, LinearScores):
            return outer(rows, numpy(self._slopes(rows)[1]), self.fitted.scores.intercept)
        data, y = self.fitted.scores.data(rows.X), self.fitted.labels(rows)

        def row_loss(theta: Tensor, x: Tensor, label: Tensor) -> Tensor:
            return self.fitted.row_losses(self.fitted.scores.value(theta, x[None]), label[None])[0]

        return numpy(vmap(grad(row_loss), in_dims=(None, 0, 0))(self._theta, data, y)).T

    def feature_slopes(self, rows: Rows, s: Array) -> tuple[Array, Array] | None:
        scores = self.fitted.scores
        if not isinstance(scores, LinearScores):
            return None
        S = s.reshape(-1, scores.columns)
        return slopes(numpy(self._slopes(rows)[1]), S, scores.intercept)

    def penalty_product(self, s: Array) -> float:
        return float((self.fitted.penalised * self.fitted.theta) @ s / self.fitted.C)

    def moved(self, step: Array, index: Array) -> TorchCurvature | None:
        """Not by the exact Hessian of a network, which may bend downwards elsewhere."""
        if self.fitted.exact and not isinstance(self.fitted.scores, LinearScores):
            return None
        fitted = replace(self.fitted, theta=self.fitted.theta + step)
        weights = None if self.weights is None else self.weights[index]
        return TorchCurvature(fitted, self.over.take(index), weights, self.tuning)

    def objective_gradient(self) -> Array:
        data, slopes = self._slopes(self.over)
        if self.weights is not None:
            slopes = slopes * self.fitted.to(self.weights)[:, None]
        gradient = numpy(self.fitted.scores.backward(self._theta, data, slopes))
        gradient += self.fitted.penalised * self.fitted.theta / self.fitted.C
        return np.asarray(gradient / self.rows)

    def losses(self, rows: Rows) -> Array:
        return self.fitted.losses(rows)
