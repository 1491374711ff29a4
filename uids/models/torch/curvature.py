"""The curvature of a torch model, by automatic differentiation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from uids.backends import Array
from uids.models.model import RowForms
from uids.models.torch.forms import NetworkForms
from uids.models.torch.points import Point, pieces, threads_for
from uids.models.torch.preconditioner import way_of
from uids.models.torch.row_derivatives import RowDerivatives
from uids.models.torch.scores import LinearScores, cross_entropy, numpy
from uids.solvers import Precondition
from uids.solvers.operator import Advice


@dataclass(frozen=True)
class TorchCurvature(RowDerivatives):
    """H = (1/n) (Σ_i ω_i ∇²l_i + diag(penalised)/C) + damping · I.

    With Z_i(θ) the scores, ∇²l_i is Jᵀ (∂²l/∂Z²) J, the Gauss–Newton matrix, plus a term with the
    second derivative of Z. That term is 0 for a linear model; for a network it can make H
    indefinite, and is left out unless ``exact``.
    """

    @property
    def scale(self) -> float:
        return 1 / (1 / (self.rows * self.fitted.C) + self.fitted.damping)

    @property
    def exact(self) -> bool:
        return self.fitted.damping == 0 and (self.of_linear or self.fitted.exact)

    @property
    def _bent(self) -> bool:
        """Whether the second derivative of Z has a part in H."""
        return self.fitted.exact and not self.of_linear

    @cached_property
    def rooted(self) -> bool:
        """Whether H is a sum of outer products, but for its ridge."""
        convex = self.fitted.row_losses is cross_entropy
        convex = convex or all(point.losses.convex for point in self.over_points())
        return convex and not self.of_linear and not self._bent

    @property
    def dense_cost(self) -> float:
        if self.of_linear:
            return float(self.size)
        one = self.tuning.dense_exact if self.fitted.exact else self.tuning.dense_newton
        return self.size * (1 if self.fitted.exact else self.columns) / one

    @property
    def diagonal_cost(self) -> float:
        if not self.of_linear and not self._bent:
            return float(self.columns)
        return float(min(self.size, self.tuning.diagonal_probes))

    def dot(self, V: Array) -> Array:
        return self._dot(V, self.over_points(), 1.0)

    def dot_rows(self, V: Array, index: Array) -> Array:
        scale = self.rows / len(index)
        if self.whole and not self.of_linear:
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
            for part in pieces(len(point), height):
                yield point.take(part.to(self._theta.device))

    def row_forms(self) -> RowForms | None:
        """Of a network by its Gauss–Newton matrix; the exact Hessian has no such forms."""
        return None if self.of_linear or self._bent else NetworkForms(self)

    def moved(self, step: Array, index: Array) -> TorchCurvature | None:
        """Not by the exact Hessian of a network, which may bend downwards elsewhere."""
        if self._bent:
            return None
        fitted = replace(self.fitted, theta=self.fitted.theta + step)
        weights = None if self.weights is None else self.weights[index]
        return TorchCurvature(fitted, self.over.take(index), weights, self.tuning)

    def advice(self) -> Advice:
        return Advice(preconditioner=way_of(self)[0])

    def preconditioner(self) -> Precondition | None:
        make = way_of(self)[1]
        with torch.no_grad():
            return None if make is None else make(self)
