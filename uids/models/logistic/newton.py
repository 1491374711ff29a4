"""Truncated Newton for logistic regression, on the products of the backend alone.

The cost is counted in passes over X. The scores Z = XΘ are kept: a direction S takes U = X S once,
and the search along it moves Z + t U, which is no pass at all. A step is then half a pass for U and
half for the new gradient, half for the diagonal and half for the intercept, and one pass for each
product with H in the inner solve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from tqdm import tqdm

from uids.backends import Array
from uids.errors import UidsError
from uids.models import Rows
from uids.models.logistic.curvature import FittedLogistic, LogisticCurvature, add, transposed
from uids.models.logistic.dual import Dual
from uids.models.logistic.head import (
    Preconditioner,
    centred,
    cheap_head,
    preconditioner,
    suits_head,
)
from uids.solvers import one_blas_thread
from uids.solvers.conjugate import descend
from uids.system.threads import on_threads

SMALL = 4e8  # multiplications in H's dense form, up to which a step factorises it
SMALL_SPARSE = 200  # and parameters for sparse X, whose products with H are far cheaper than that
GLIMPSE = 16  # one row in as many, for a start,
TALL = 50  # if they are still as many for each parameter,
ROUGH = 1e-4  # which is fitted to this gradient: it is no nearer to that of all rows
INNER_LIMIT = 1000  # products with H in one step
ROWS_LIMIT = 200  # in the space of the rows, after which a preconditioner is wanted
LOOSEST = 0.25  # relative residual that a step is solved to, far from the optimum
NEAR = 0.03  # and near it: from a start that is given
FINISH = 10  # times the floor, within which a solve goes on to it: a further step is dearer
HEAD_PRODUCTS = 5  # in one step, after which the head of the preconditioner is worth its cost
STALE_PRODUCTS = 40  # in one step, after which the head is made anew
ARMIJO = 1e-4  # share of the decrease that the slope promises
ROUNDING = 1e-12  # relative change of the objective that says nothing
TRIALS = 60  # points along one direction, each 2 to 10 times nearer than the last
CHUNK = 2**15  # scores looked at together: they stay in the cache, beside no vector of length n

Along = Callable[[float], tuple[float, float]]  # t ↦ objective and slope at θ + t s
TOO_LARGE = "the objective is not finite: look for huge values in X, or scale the features"


@dataclass(frozen=True)
class Minimum:
    """θ, the largest coordinate of the gradient of F / (C Σω) there, and the work it took."""

    theta: Array
    largest: float
    steps: int
    products: int  # with H, in the inner solves; a step by factorisation has none


def minimise(
    start: FittedLogistic, rows: Rows, weights: Array | None, tol: float, max_iter: int
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
        start = glimpse(start, rows, weights, max_iter)
    # Overflow is looked for where it would show: in the objective, the gradient and H.
    with np.errstate(all="ignore"):
        at = _Point(start, rows, weights, total)
        steps, products = _descend(at, tol * total / n, max_iter)
    return Minimum(at.theta, at.largest * n / total, steps, products)


def glimpse(
    start: FittedLogistic, rows: Rows, weights: Array | None, max_iter: int
) -> FittedLogistic:
    """A start from a few of the rows, evenly spread, where they are far more than the parameters:
    the first steps, far from the optimum, then cost a fraction. Else the start that is given."""
    index = np.arange(0, len(rows), GLIMPSE)
    some = None if weights is None else weights[index]
    if len(index) < TALL * len(start.theta) or (some is not None and not some.any()):
        return start
    alike = replace(start, C=start.C * len(rows) / len(index))
    found = minimise(alike, rows.take(index), some, ROUGH, max_iter)
    return replace(start, theta=found.theta)


def _descend(at: _Point, target: float, max_iter: int) -> tuple[int, int]:
    """Steps until ``target``, in place on ``at``: how many, and how many products with H."""
    steps = stuck = 0
    inner = Inner(NEAR if at.theta.any() else LOOSEST)
    bar = tqdm(desc="newton", unit=" steps", total=max_iter, disable=None, delay=2, leave=False)
    with bar:  # quiet unless it takes seconds and somebody looks at it
        while at.largest > target and steps < max_iter and stuck < 3:
            before, largest = at.value, at.largest
            curvature = at.curvature()
            s, U = factorised(curvature, at.gradient), None
            if s is None:
                s, U = inner.solve(curvature, at.gradient, 0.3 * target)
            with one_blas_thread(curvature):
                found = at.move(s, U)
            if not found:
                if inner.leave_rows():
                    continue
                break
            steps += 1
            # Where neither the objective nor the gradient gets smaller, only rounding is left.
            level = before - at.value <= ROUNDING * abs(before) and at.largest > largest / 2
            stuck = stuck + 1 if level else 0
            if stuck == 3 and inner.leave_rows():
                stuck = 0
            bar.set_postfix_str(f"gradient {at.largest:.1e}", refresh=False)
            bar.update()
    return steps, inner.products


class _Point:
    """θ and what is known there: scores Z and probabilities P, (n, k); objective, gradient."""

    def __init__(
        self, start: FittedLogistic, rows: Rows, weights: Array | None, total: float
    ) -> None:
        self.start, self.rows, self.weights = start, rows, weights
        self.theta = np.array(start.theta, dtype=np.float64)
        self.penalised = len(self.theta) - start.columns * start.intercept
        if start.columns > 1:  # no probability changes, and the penalty falls
            centred(self.theta[: self.penalised], start.columns)
        self.P = np.empty((len(rows), start.columns))
        known = self.theta.any()
        self.Z = start.scores(rows) if known else np.zeros(self.P.shape)
        self.value = self._along(None, None)(0.0)[0]
        if known and not self.value <= np.log(start.classes) * total / len(rows):
            # A start that is worse than 0 may be so far out that all P are 0 or 1, and H singular.
            self.theta[:] = 0
            self.Z[:] = 0
            self.value = self._along(None, None)(0.0)[0]
        self._differentiate(np.empty(self.P.shape))

    def curvature(self) -> LogisticCurvature:
        return LogisticCurvature(
            replace(self.start, theta=self.theta), self.rows, self.weights, self.P
        )

    def _along(self, s: Array | None, U: Array | None) -> Along:
        """The objective on θ + t s, whose scores are Z + t U. Leaves P as it is there."""
        scale, top = self.start.C * len(self.rows), self.theta[: self.penalised]
        square, cross, own = float(top @ top), 0.0, 0.0
        if s is not None:
            step = s[: self.penalised]
            cross, own = float(top @ step), float(step @ step)

        def at(t: float) -> tuple[float, float]:
            rows = self.rows
            loss, slope = losses(self.Z, U, t, rows.y, self.weights, self.P, rows.X.threads)
            value = loss / len(self.rows) + (square + t * (2 * cross + t * own)) / (2 * scale)
            return value, slope / len(self.rows) + (cross + t * own) / scale

        return at

    def _differentiate(self, R: Array) -> None:
        """The gradient, from P; R (n, k) is overwritten."""
        R[:] = self.P
        if self.start.classes == 2:
            R[:, 0] -= self.rows.y
        else:
            R[np.arange(len(R)), self.rows.y] -= 1
        if self.weights is not None:
            R *= self.weights[:, None]
        self.gradient = transposed(self.rows, R, self.start.intercept).ravel()
        add(self.theta[: self.penalised], self.gradient[: self.penalised], 1 / self.start.C)
        self.gradient /= len(self.rows)
        self.largest = peak(self.gradient)
        if not np.isfinite(self.value + self.largest):
            raise UidsError(TOO_LARGE)

    def move(self, s: Array, U: Array | None) -> bool:
        """To the best point that the search finds along s, whose scores are U where they are known;
        False where rounding hides the way."""
        if self.start.columns > 1:
            centred(s, self.start.columns)
        slope = float(self.gradient @ s)
        if U is None:
            U = replace(self.start, theta=s).scores(self.rows)
        found = search(self._along(s, U), self.value, slope)
        if found is None:
            self._along(None, None)(0.0)  # P as it was
            return False
        t, self.value = found
        add(s, self.theta, t)
        U *= t
        self.Z += U
        self._differentiate(U)
        return True


def losses(
    Z: Array,
    U: Array | None,
    t: float,
    y: Array,
    weights: Array | None,
    P: Array,
    threads: int = 1,
) -> tuple[float, float]:
    """Σ ω_i l_i at the scores Z + t U and its derivative in t; the probabilities go to P.

    All are (n, k), with k = 1 in the binary case. Without U the derivative is 0.
    """
    n, k = Z.shape
    height = max(1, CHUNK // k)
    starts = range(0, n, height)
    found = np.zeros((len(starts), 2))

    def some(first: int) -> None:
        with np.errstate(all="ignore"):  # which each thread has of its own
            for chunk in range(first, len(starts), threads):
                part = slice(starts[chunk], starts[chunk] + height)
                u = None if U is None else U[part]
                weight = None if weights is None else weights[part]
                found[chunk] = chunk_losses(Z[part], u, t, y[part], weight, P[part])

    on_threads(some, threads)
    loss, slope = found.sum(axis=0)
    return float(loss), float(slope)


def chunk_losses(
    z: Array, u: Array | None, t: float, y: Array, weight: Array | None, p: Array
) -> tuple[float, float]:
    if u is not None:
        z = z + t * u
    if z.shape[1] == 1:
        z = z[:, 0]
        small = np.exp(-np.abs(z))  # in [0, 1]: nothing overflows
        losses = np.log1p(small)
        losses += np.maximum(np.where(y == 1, -z, z), 0)
        p[:, 0] = np.where(z >= 0, 1.0, small) / (1 + small)
    else:
        z = z - z.max(axis=1, keepdims=True)
        np.exp(z, out=p)
        sums = p.sum(axis=1)
        losses = np.log(sums) - z[np.arange(len(z)), y]
        p /= sums[:, None]
    loss = float(losses.sum() if weight is None else weight @ losses)
    if u is None:
        return loss, 0.0
    rates = np.einsum("ik,ik->i", p, u)
    rates -= u[:, 0] * y if p.shape[1] == 1 else u[np.arange(len(u)), y]
    return loss, float(rates.sum() if weight is None else weight @ rates)


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


def factorised(curvature: LogisticCurvature, gradient: Array) -> Array | None:
    """−H⁻¹ g by Cholesky, for small problems; None for others, and where rounding leaves an H that
    is not positive definite. With more rows a dense H at each step is dearer than a few products.
    """
    sparse = sp.issparse(curvature.over.X.source)
    if curvature.rows * curvature.size**2 > SMALL or (sparse and curvature.size > SMALL_SPARSE):
        return None
    H = curvature.dense()
    if not np.isfinite(H).all():
        raise UidsError(TOO_LARGE)
    try:
        factor = cho_factor(H.T, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    s = cho_solve(factor, -gradient, check_finite=False)
    return s if np.isfinite(s).all() and s @ gradient < 0 else None


class Inner:
    """−H⁻¹ g, roughly, by preconditioned conjugate gradients; what it learns serves the next step.

    The head of the preconditioner is made when a solve turns out long, and then kept, since near
    the optimum H hardly changes; the diagonal alone is so cheap that each step has its own.
    """

    def __init__(self, loosest: float) -> None:
        self.loosest = loosest
        self.in_rows = True  # as long as that goes well, where the curvature has a dual
        self.last_in_rows = False
        self.M: Preconditioner | None = None
        self.size = 0.0  # of the last gradient
        self.products = self.last = 0

    def solve(
        self, curvature: LogisticCurvature, gradient: Array, floor: float
    ) -> tuple[Array, Array | None]:
        """Until ‖g + H s‖ ≤ η ‖g‖ in the norm of M⁻¹, in which no badly scaled column hides the
        others, and the largest coordinate, which is what ``tol`` looks at, has come down to √η of
        what it was; or no coordinate of g + H s, the next gradient to first order, is above
        ``floor``.

        η follows Eisenstat and Walker (1996): loose while steps gain little, since a better answer
        to the wrong equation is no better step, and ever tighter as they gain more.
        """
        dual = curvature.dual() if self.in_rows else None
        self.last_in_rows = dual is not None
        if dual is not None:
            return self._in_rows(dual, gradient, floor)
        M = self.M
        cheap = cheap_head(curvature)
        if M is None or not M.blocks or cheap or self.last > STALE_PRODUCTS:
            M = preconditioner(curvature, head=cheap or (M is not None and bool(M.blocks)))
        eta = self._eta(float(np.sqrt(gradient @ (gradient * M.inverse))))
        s, r = np.zeros(len(gradient)), -gradient
        limit = INNER_LIMIT
        if not M.blocks and suits_head(curvature):
            limit = HEAD_PRODUCTS
        self.last, done = self.descend(curvature, s, r, M, gradient, eta, floor, limit)
        if not done and self.last == limit < INNER_LIMIT:
            M = preconditioner(curvature, head=True)
            more, _ = self.descend(curvature, s, r, M, gradient, eta, floor, INNER_LIMIT)
            self.last += more
        if not s.any():  # for rounding H bends downwards at once: what there is must do
            s -= M.solve(gradient, r)
        self.M = M
        self.products += self.last
        return s, None

    def leave_rows(self) -> bool:
        """Go on without the dual, which columns or rows of very different size are not for; whether
        the last step was by it, and has not been told of yet: a step that fails a second time, by
        another way, is the end."""
        self.in_rows = False
        before, self.last_in_rows = self.last_in_rows, False
        return before

    def _eta(self, size: float) -> float:
        before, self.size = self.size, size
        return min(self.loosest, (size / before) ** 1.6) if before else self.loosest

    def _in_rows(self, dual: Dual, gradient: Array, floor: float) -> tuple[Array, Array]:
        """By the dual, which knows ‖g + H s‖ only: the largest coordinate is taken to be the same
        part of it as in g. It knows X s too."""
        size = float(np.sqrt(gradient @ gradient))
        floor *= size / peak(gradient)
        goal = self._eta(size) * size
        goal = floor if goal <= FINISH * floor else goal
        s, _, U, self.last = dual.solve(gradient, goal, ROWS_LIMIT)
        self.products += self.last
        self.in_rows = self.last < ROWS_LIMIT
        return np.negative(s, out=s), np.negative(U, out=U)[:, None]

    @staticmethod
    def descend(
        curvature: LogisticCurvature,
        s: Array,
        r: Array,
        M: Preconditioner,
        gradient: Array,
        eta: float,
        floor: float,
        limit: int,
    ) -> tuple[int, bool]:
        z = M.solve(gradient, np.empty(len(r)))
        goal, ceiling = eta**2 * float(gradient @ z), eta**0.5 * peak(gradient)

        def done(r: Array, rho: float) -> bool:
            height = peak(r)
            return height <= floor or (rho <= goal and FINISH * floor < height <= ceiling)

        with one_blas_thread(curvature):
            return descend(curvature.dot, s, r, lambda r: M.solve(r, z), done, limit)


def peak(vector: Array) -> float:
    """The largest |coordinate|, without a second vector."""
    return float(max(vector.max(), -vector.min())) if len(vector) else 0.0
