"""How far to go along a direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

ARMIJO = 1e-4  # share of the decrease that the slope promises
ROUNDING = 1e-12  # relative change of the objective that says nothing
TRIALS = 60  # points along one direction, each 2 to 10 times nearer than the one before

Along = Callable[[float], tuple[float, float]]  # t ↦ objective and slope at θ + t s


def search(along: Along, value: float, slope: float) -> tuple[float, float] | None:
    """(t, objective there): the first of 1 and shorter steps that brings enough. None if none does.

    Enough is Armijo's rule; or, where the objective no longer moves but for rounding, a slope that
    has become flatter (the approximate Wolfe conditions of Hager and Zhang 2005): the objective is
    convex, so that the slope tells the same and is not blurred by a large objective.
    """
    if not slope < 0:
        return None
    t = 1.0
    for _ in range(TRIALS):
        there, rate = along(t)
        if there <= value + ARMIJO * t * slope:
            return t, there
        if there <= value + ROUNDING * abs(value) and abs(rate) <= (1 - 2 * ARMIJO) * abs(slope):
            return t, there
        # Where a straight line through both slopes is 0, but not too near to either end.
        guess = slope / (slope - rate)
        t *= min(max(guess, 0.1), 0.5) if np.isfinite(there + rate) else 0.1
    return None
