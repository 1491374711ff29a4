"""The curvature of a torch model, by automatic differentiation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from uids.backends import Array
from uids.models.logistic.products import outer, slopes
from uids.models.model import Objective, RowForms
from uids.models.rows import Rows
from uids.models.torch.forms import NetworkForms
from uids.models.torch.layers import Tensor
from uids.models.torch.points import Point, threads_for
from uids.models.torch.preconditioner import factored, in_rows
from uids.models.torch.scores import LinearScores, ModuleScores, cross_entropy, numpy
from uids.solvers import Precondition
from uids.solvers.operator import Advice
from uids.system.tuning import AUTODIFF, SOLVER_CHOICE, Autodiff

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
    def _bent(self) -> bool:
        """Whether the second derivative of Z has a part in H."""
        return self.fitted.exact and not self._linear

    @cached_property
    def rooted(self) -> bool:
        """Whether H is a sum of outer products, but for its ridge."""
        convex = self.fitted.row_losses is cross_entropy
        convex = convex or all(point.losses.convex for point in self.over_points())
        return convex and not self._linear and not self._bent

    @property
    def product_work(self) -> float:
        return (2.0 if self._linear else 4.0) * self.rows * self.size

    @property
    def dense_cost(self) -> float:
        if self._linear:
            return float(self.size)
        one = self.tuning.dense_exact if self.fitted.exact else self.tuning.dense_newton
        return self.size * (1 if self.fitted.exact else self.columns) / one

    @property
    def diagonal_cost(self) -> float:
        if not self._linear and not self._bent:
            return float(self.columns)
        return float(min(self.size, self.tuning.diagonal_probes))

    @cached_property
    def _theta(self) -> Tensor:
        return self.fitted.to(self.fitted.theta)

    def _height(self) -> int:
        """Rows that are looked at together."""
        scores = self.fitted.scores
        numbers = scores.numbers if isinstance(scores, ModuleScores) else 1
        return max(1, self.tuning.block // numbers)

    def points_of(self, rows: Rows, weights: Array | None = None) -> Iterator[Point]:
        """The rows at θ, some at a time."""
        if rows is self.over and self._whole and weights is None:
            yield self._kept_point
            return
        height, n = self._height(), len(rows)
        for first in range(0, n, height):
            part = rows if n <= height else rows.take(np.arange(first, min(first + height, n)))
            own = None if weights is None else weights[first : first + height]
            yield self._point(part, own)

    def _point(self, rows: Rows, weights: Array | None) -> Point:
        fitted = self.fitted
        own = None if weights is None else fitted.to(weights)
        losses = fitted.row_losses, fitted.labels(rows), own
        return Point.of(fitted.scores, self._theta, fitted.scores.data(rows.X), losses)

    @property
    def _whole(self) -> bool:
        """Whether the rows of H are looked at together, and what a pass leaves is kept."""
        return self._linear or self.rows <= self._height()

    @cached_property
    def _kept_point(self) -> Point:
        return self._point(self.over, self.weights)

    def over_points(self) -> Iterator[Point]:
        """The rows of H, with their weights."""
        if self._whole:
            yield self._kept_point
        else:
            yield from self.points_of(self.over, self.weights)

    def dot(self, V: Array) -> Array:
        return self._dot(V, self.over_points(), 1.0)

    def dot_rows(self, V: Array, index: Array) -> Array:
        scale = self.rows / len(index)
        if self._whole and not self._linear:
            return self._dot(V, self._some(index), scale)
        weights = None if self.weights is None else self.weights[index]
        return self._dot(V, iter([self._point(self.over.take(index), weights)]), scale)

    def _some(self, index: Array) -> Iterator[Point]:
        """Rows of H from what is kept of all of them."""
        yield self._kept_point.take(torch.as_tensor(index, device=self.fitted.device))

    def _dot(self, V: Array, points: Iterator[Point], scale: float) -> Array:
        flat = V.reshape(self.size, -1)
        columns = self.fitted.to(flat)
        total = torch.zeros_like(columns)
        with torch.no_grad(), threads_for(self.product_work * columns.shape[1]):
            for point in points:
                for part in self._together(columns, len(point)):
                    total[:, part] += point.curved(columns[:, part], self._bent)
        result = numpy(total)
        result *= scale
        result += self.fitted.penalised[:, None] / self.fitted.C * flat
        scores = self.fitted.scores
        if isinstance(scores, LinearScores) and scores.intercept and scores.columns > 1:
            # As in logreg: all intercepts can move together without effect; this term fixes that.
            result[-scores.columns :] += flat[-scores.columns :].mean(axis=0)
        result /= self.rows
        result += self.fitted.damping * flat
        return np.asarray(result).reshape(V.shape)

    def _together(self, columns: Tensor, rows: int) -> list[slice]:
        """The columns, as many at a time as stay within a block for these rows."""
        scores = self.fitted.scores
        numbers = scores.numbers if isinstance(scores, ModuleScores) else scores_of(self)
        width = max(1, self.tuning.block // max(1, rows * numbers))
        return [slice(i, i + width) for i in range(0, columns.shape[1], width)]

    def diagonal(self) -> Array:
        if not self.rooted:
            return self._probed_diagonal()
        total = self.fitted.penalised / self.fitted.C
        with torch.no_grad(), threads_for(self.product_work):
            for point in self.over_points():
                total = total + numpy(point.at.squares(point.roots))
        return np.asarray(total / self.rows + self.fitted.damping)

    def _probed_diagonal(self) -> Array:
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
        if not self.rooted:
            H = self.dot(np.eye(self.size))
            return np.asarray((H + H.T) / 2)
        H = self._gauss_newton() / self.rows
        H[np.diag_indices(self.size)] += self.fitted.penalised / self.fitted.C / self.rows
        H[np.diag_indices(self.size)] += self.fitted.damping
        return H

    def _gauss_newton(self) -> Array:
        """Σ_i ω_i J_iᵀ W_i J_i from the gradients along the roots of W_i, of some rows at a time,
        (size, size): one matrix product for them, where products with unit vectors are ``size``
        passes."""
        total = self._theta.new_zeros((self.size, self.size))
        work = float(self.rows * self.columns) * self.size**2
        with torch.no_grad(), threads_for(work):
            for point in self._low_points(self.columns):
                G = point.at.row_gradients(point.roots).reshape(-1, self.size)
                total.addmm_(G.T, G)
        return numpy(total)

    def _low_points(self, columns: int) -> Iterator[Point]:
        """The rows of H, as many at a time as gradients along so many columns may be held."""
        height = max(1, self.tuning.block // (4 * self.size * columns))
        for point in self.over_points():
            if len(point) <= height:
                yield point
                continue
            for part in torch.arange(len(point), device=self._theta.device).split(height):
                yield point.take(part)

    def gradient(self, rows: Rows) -> Array:
        with torch.no_grad(), threads_for(2.0 * len(rows) * self.size):
            parts = [
                point.at.backward(point.losses.slopes[:, None, :])[:, 0]
                for point in self.points_of(rows)
            ]
            return numpy(torch.stack(parts).sum(dim=0))

    def row_products(self, rows: Rows, S: Array, scores: Array | None = None) -> Array:
        columns = self.fitted.to(S.reshape(self.size, -1))
        parts = []
        with torch.no_grad(), threads_for(2.0 * len(rows) * self.size * columns.shape[1]):
            for point in self.points_of(rows):
                width = self._together(columns, len(point))
                products = [
                    point.at.row_products(point.losses.slopes, columns[:, part]) for part in width
                ]
                parts.append(torch.cat(products, dim=1))
            return numpy(torch.cat(parts)).reshape(len(rows), *S.shape[1:])

    def gradient_norms(self, rows: Rows) -> Array:
        if self._linear:
            return np.linalg.norm(self.row_gradients(rows), axis=0)
        with torch.no_grad(), threads_for(2.0 * len(rows) * self.size):
            squares = [
                point.at.row_squares(point.losses.slopes[:, None, :])[:, 0, 0]
                for point in self.points_of(rows)
            ]
            return numpy(torch.sqrt(torch.cat(squares)))

    def row_gradients(self, rows: Rows) -> Array:
        if isinstance(self.fitted.scores, LinearScores):
            (point,) = self.points_of(rows)
            return outer(rows, numpy(point.losses.slopes), self.fitted.scores.intercept)
        with torch.no_grad(), threads_for(2.0 * len(rows) * self.size):
            parts = [
                point.at.row_gradients(point.losses.slopes[:, None, :])[:, 0]
                for point in self.points_of(rows)
            ]
            return numpy(torch.cat(parts)).T

    def feature_slopes(self, rows: Rows, s: Array) -> tuple[Array, Array] | None:
        scores = self.fitted.scores
        if not isinstance(scores, LinearScores):
            return None
        (point,) = self.points_of(rows)
        return slopes(numpy(point.losses.slopes), s.reshape(-1, scores.columns), scores.intercept)

    def row_forms(self) -> RowForms | None:
        """Of a network by its Gauss–Newton matrix; the exact Hessian has no such forms."""
        return None if self._linear or self._bent else NetworkForms(self)

    def penalty_product(self, s: Array) -> float:
        return float((self.fitted.penalised * self.fitted.theta) @ s / self.fitted.C)

    def moved(self, step: Array, index: Array) -> TorchCurvature | None:
        """Not by the exact Hessian of a network, which may bend downwards elsewhere."""
        if self._bent:
            return None
        fitted = replace(self.fitted, theta=self.fitted.theta + step)
        weights = None if self.weights is None else self.weights[index]
        return TorchCurvature(fitted, self.over.take(index), weights, self.tuning)

    def objective_gradient(self) -> Array:
        return self.objective()[1]

    def objective(self) -> tuple[float, Array]:
        """R and ∇R."""
        fitted, value = self.fitted, 0.0
        gradient = fitted.penalised * fitted.theta / fitted.C
        value = float(gradient @ fitted.theta) / 2
        with torch.no_grad(), threads_for(self.product_work):
            for point in self.over_points():
                risk, slope = point.risk()
                value += risk
                gradient = gradient + numpy(slope)
        return value / self.rows, np.asarray(gradient / self.rows)

    def losses(self, rows: Rows) -> Array:
        return self.fitted.losses(rows)

    def advice(self) -> Advice:
        small = self.size <= SOLVER_CHOICE.direct_size
        if self._linear or small and self.dense_cost <= SOLVER_CHOICE.direct_products:
            return Advice()
        return Advice(preconditioner=self._way()[0])

    def _way(self) -> tuple[str, Any]:
        """The preconditioner that pays: in words, and how it is made."""
        chain = isinstance(self.fitted.scores, ModuleScores) and self.fitted.scores.layers
        if not chain:
            return "", None
        N = self.rows * max(1, self.columns - 1)
        if N <= self.tuning.in_rows and N < self.size:
            return f"its Gauss–Newton matrix by the {N:,} gradients of its rows", in_rows
        return "its Gauss–Newton matrix by Kronecker factors of each layer", factored

    def preconditioner(self) -> Precondition | None:
        make = self._way()[1]
        if make is None:
            return None
        with torch.no_grad():
            made: Precondition = make(self)
        return made


def scores_of(curvature: TorchCurvature) -> int:
    """Numbers that a row of a linear model has for each vector."""
    return curvature.columns
