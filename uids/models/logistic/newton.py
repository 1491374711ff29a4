"""Truncated Newton for linear models, on the products of the backend alone.

The cost is counted in passes over X. The scores Z = XΘ are kept: a direction S takes U = X S once,
and the search along it moves Z + t U, which is no pass at all. A step is then half a pass for U and
half for the new gradient, half for the diagonal and half for the intercept, and one pass for each
product with H in the inner solve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uids.backends import Array
from uids.errors import UidsError
from uids.models.logistic.factor import FactorStep
from uids.models.logistic.line_search import ROUNDING
from uids.models.logistic.point import Point
from uids.models.logistic.scored import FittedLinear
from uids.models.logistic.step import Step
from uids.models.rows import Rows
from uids.system.progress import Steps
from uids.system.threads import one_blas_thread
from uids.system.tuning import NEWTON, Newton


@dataclass(frozen=True)
class Minimum:
    """θ, the largest coordinate of the gradient of F / (C Σω) there, and the work it took."""

    theta: Array
    largest: float
    steps: int
    products: int  # with H, in the inner solves; a step by factorisation has none


def minimise(
    start: FittedLinear,
    rows: Rows,
    weights: Array | None,
    tol: float,
    max_iter: int,
    tuning: Newton = NEWTON,
) -> Minimum:
    """Minimise F(θ) = ½‖θ‖² + C Σ_i ω_i l_i(θ) from ``start``.

    Ends when no coordinate of the gradient of F / (C Σω) is above ``tol``, when rounding allows no
    more, or after ``max_iter`` steps; ``largest`` tells. What follows is in the mean form that the
    curvature has, F / (nC).
    """
    n = len(rows)
    total = n if weights is None else float(weights.sum())
    if not 0 < total < np.inf:
        raise UidsError(f"the weights of the rows to fit must have a sum above 0 (got {total:g})")
    if not start.theta.any():
        start = glimpse(start, rows, weights, max_iter, tuning)
    # Overflow is looked for where it would show: in the objective, the gradient and H.
    with np.errstate(all="ignore"):
        with one_blas_thread(not rows.X.uses_blas(start.columns)):
            point = Point(start, rows, weights, tuning)
        steps, products = _descend(point, tol * total / n, max_iter, tuning)
    return Minimum(point.theta, point.largest * n / total, steps, products)


def glimpse(
    start: FittedLinear, rows: Rows, weights: Array | None, max_iter: int, tuning: Newton
) -> FittedLinear:
    """A start from a few of the rows, evenly spread, where they are far more than the parameters:
    the first steps, far from the optimum, then cost a fraction. Else the start that is given."""
    index = np.arange(0, len(rows), tuning.glimpse)
    some = None if weights is None else weights[index]
    if len(index) < tuning.glimpse_tall * len(start.theta) or (some is not None and not some.any()):
        return start
    alike = replace(start, C=start.C * len(rows) / len(index))
    minimum = minimise(alike, rows.take(index), some, tuning.glimpse_tol, max_iter, tuning)
    return replace(start, theta=minimum.theta)


def _descend(point: Point, target: float, max_iter: int, tuning: Newton) -> tuple[int, int]:
    """Steps until ``target``, in place on ``point``: how many, and how many products with H."""
    count = stuck = 0
    few_threads = not point.rows.X.uses_blas(point.start.columns)
    step = Step(tuning.near if point.theta.any() else tuning.loosest, tuning)
    by_factor, progress = FactorStep(tuning), Steps("newton", max_iter)
    while point.largest > target and count < max_iter and stuck < 3:
        before, largest = point.value, point.largest
        curvature = point.curvature()
        s, U = by_factor.solve(curvature, point.gradient, 0.3 * target), None
        with one_blas_thread(few_threads):
            if s is None:
                s, U = step.solve(curvature, point.gradient, 0.3 * target)
            moved = point.move(s, U)
        if not moved:
            if step.surely():
                continue
            break
        count += 1
        # Where neither the objective nor the gradient gets smaller, only rounding is left.
        level = before - point.value <= ROUNDING * abs(before) and point.largest > largest / 2
        stuck = stuck + 1 if level else 0
        if stuck == 3 and step.surely():
            stuck = 0
        progress.done(count)
    return count, step.products
