"""Training a torch model by L-BFGS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from uids.backends import Array
from uids.errors import UidsError
from uids.models.rows import Rows
from uids.models.torch.fitted import FittedTorch
from uids.models.torch.layers import Tensor
from uids.models.torch.points import Point, threads_for
from uids.models.torch.scores import ModuleScores, numpy
from uids.solvers.conjugate import conjugate_gradients
from uids.solvers.direct import factor
from uids.system.threads import one_blas_thread
from uids.system.tuning import AUTODIFF

HISTORY = 20  # steps from which the inverse Hessian is estimated
FINISHING = 5  # Newton steps at the end, where the objective has no more digits to tell by
FINISHING_PRODUCTS = 200  # with H in each of them
FINISHING_TOL = 1e-2  # relative residual that each of them is solved to


class ReachedError(Exception):
    """The gradient is small enough."""


def minimise(
    start: FittedTorch, rows: Rows, weights: Array | None, tol: float, max_iter: int
) -> tuple[FittedTorch, float]:
    """L-BFGS on (1/n) (Σ ω_i l_i + ½ θᵀdiag(penalised)θ / C), until no coordinate of the gradient
    is above tol. Returns the model there and the largest coordinate.

    Of a small network in the variables u of θ = θ₀ + L⁻ᵀu, where L Lᵀ is its Gauss–Newton matrix at
    the start: from a neighbour's θ₀ that takes a quarter of the steps.
    """
    parts = list(row_parts(start, rows, weights))
    n, penalty = len(rows), start.penalised / start.C
    reached: list[tuple[float, Array]] = []  # the last that was looked at

    def objective(theta: Array) -> tuple[float, Array]:
        at, gradient = start.to(theta), penalty * theta
        value = float(gradient @ theta) / 2
        with torch.no_grad():
            for data, losses in parts:
                risk, slope = Point.of(start.scores, at, data, losses).risk()
                value += risk
                gradient += numpy(slope)
        gradient /= n
        largest = float(np.abs(gradient).max())
        reached[:] = [(largest, theta)]
        if largest <= tol:
            raise ReachedError
        return value / n, gradient

    def in_metric(u: Array) -> tuple[float, Array]:
        assert way is not None
        value, gradient = objective(start.theta + u @ way)
        return value, way @ gradient

    small = len(start.theta) <= AUTODIFF.one_thread_size
    options = {"maxcor": HISTORY, "gtol": 0.0, "ftol": 0.0, "maxiter": max_iter}
    options["maxfun"] = 2 * max_iter
    with threads_for(4.0 * n * len(start.theta)), one_blas_thread(small), suppress(ReachedError):
        way = metric(start, rows, weights)
        function = objective if way is None else in_metric
        begin = start.theta if way is None else np.zeros(len(start.theta))
        found = minimize(function, begin, jac=True, method="L-BFGS-B", options=options)
        function(found.x)
    largest, theta = reached[0]
    fitted = replace(start, theta=theta)
    if largest > tol and found.nit < max_iter:
        return finished(fitted, rows, weights, tol)
    return fitted, largest


def metric(start: FittedTorch, rows: Rows, weights: Array | None) -> Array | None:
    """L⁻¹ of the Gauss–Newton matrix at the start, where that is worth it."""
    if not isinstance(start.scores, ModuleScores) or len(start.theta) > AUTODIFF.metric_size:
        return None
    H = replace(start, exact=False, damping=0.0).curvature(rows, weights)
    try:
        L = factor(H)
    except UidsError:
        return None
    return np.asarray(solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False))


def row_parts(
    start: FittedTorch, rows: Rows, weights: Array | None
) -> Iterator[tuple[Any, tuple[Any, Tensor, Tensor | None]]]:
    """(data, (loss, y, ω)) of as many rows at a time as a pass may keep."""
    data, y = start.scores.data(rows.X), start.labels(rows)
    w = None if weights is None else start.to(weights)
    if not isinstance(start.scores, ModuleScores):
        yield data, (start.row_losses, y, w)
        return
    height = max(1, AUTODIFF.block // start.scores.numbers)
    for first in range(0, len(rows), height):
        part = slice(first, first + height)
        yield data[part], (start.row_losses, y[part], None if w is None else w[part])


def finished(
    fitted: FittedTorch, rows: Rows, weights: Array | None, tol: float
) -> tuple[FittedTorch, float]:
    """Newton steps, as long as the gradient gets smaller: where rounding hides from L-BFGS whether
    the objective does."""
    gradient = fitted.curvature(rows, weights).objective_gradient()
    for _ in range(FINISHING):
        if np.abs(gradient).max() <= tol:
            break
        H = replace(fitted, exact=True, damping=0.0).curvature(rows, weights)
        most = FINISHING_PRODUCTS
        try:
            step = conjugate_gradients(H, gradient, tol=FINISHING_TOL, max_iter=most).value
        except UidsError:  # a saddle, or rounding: it stays where it is
            break
        moved = replace(fitted, theta=fitted.theta - step)
        there = moved.curvature(rows, weights).objective_gradient()
        if not np.abs(there).max() < np.abs(gradient).max():
            break
        fitted, gradient = moved, there
    return fitted, float(np.abs(gradient).max())
