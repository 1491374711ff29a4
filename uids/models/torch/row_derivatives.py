"""Gradients of rows, and products with them, at the parameters of a torch model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from uids.backends import Array
from uids.models.logistic.products import outer, slopes
from uids.models.model import Objective
from uids.models.rows import Rows
from uids.models.torch.layers import Tensor
from uids.models.torch.points import Point, threads_for
from uids.models.torch.scores import LinearScores, ModuleScores, numpy
from uids.system.tuning import AUTODIFF, Autodiff

if TYPE_CHECKING:
    from uids.models.torch.fitted import FittedTorch


@dataclass(frozen=True)
class RowDerivatives(Objective):
    """The rows of an objective at θ, some at a time where a pass would keep too much of all."""

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
    def columns(self) -> int:
        return self.fitted.outputs

    @property
    def of_linear(self) -> bool:
        return isinstance(self.fitted.scores, LinearScores)

    @property
    def product_work(self) -> float:
        return (2.0 if self.of_linear else 4.0) * self.rows * self.size

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
        if rows is self.over and self.whole and weights is None:
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
    def whole(self) -> bool:
        """Whether the rows of H are looked at together, and what a pass leaves is kept."""
        return self.of_linear or self.rows <= self._height()

    @cached_property
    def _kept_point(self) -> Point:
        return self._point(self.over, self.weights)

    def over_points(self) -> Iterator[Point]:
        """The rows of H, with their weights."""
        if self.whole:
            yield self._kept_point
        else:
            yield from self.points_of(self.over, self.weights)

    def _together(self, columns: Tensor, rows: int) -> list[slice]:
        """The columns, as many at a time as stay within a block for these rows."""
        scores = self.fitted.scores
        numbers = scores.numbers if isinstance(scores, ModuleScores) else self.columns
        width = max(1, self.tuning.block // max(1, rows * numbers))
        return [slice(i, i + width) for i in range(0, columns.shape[1], width)]

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
        if self.of_linear:
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

    def penalty_product(self, s: Array) -> float:
        return float((self.fitted.penalised * self.fitted.theta) @ s / self.fitted.C)

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
