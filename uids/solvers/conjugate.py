"""Preconditioned conjugate gradients, for one or several right-hand sides at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.blas import daxpy

from uids.backends import Array
from uids.errors import UidsError
from uids.solvers.adopted import operator_of
from uids.solvers.direct import NOT_POSITIVE_DEFINITE
from uids.solvers.operator import Operator, Precondition
from uids.solvers.residual import norms, residual
from uids.solvers.solution import Solution
from uids.system.threads import one_blas_thread

RESTARTS = 5  # of the recursion from the s that it has reached: more cannot help in floating point
NOT_FINITE = "the Hessian product is not finite: look for huge values in X, or scale the features"


def conjugate_gradients(
    operator: Operator,
    g: Array,
    *,
    tol: float,
    max_iter: int,
    precondition: Precondition | None = None,
    start: Array | None = None,
    name: str = "cg",
) -> Solution:
    """Until ‖g − H s‖ ≤ tol ‖g‖ for each column. One product with H an iteration.

    Leaves the textbook in two places. The recursion's residual drifts from the true one, so that
    when it says "done" the true one is looked at, and if that disagrees the recursion starts again
    from s (at most a few times: more cannot help in floating point). And of several columns one
    that is done keeps still, so that the others cannot push it about by 0/0.
    """
    operator = operator_of(operator)
    with one_blas_thread(not operator.uses_blas(g[:1].size)):
        return _conjugate_gradients(operator, g, tol, max_iter, precondition, start, name)


def _conjugate_gradients(
    operator: Operator,
    g: Array,
    tol: float,
    max_iter: int,
    precondition: Precondition | None,
    start: Array | None,
    name: str,
) -> Solution:
    columns = np.asarray(g, dtype=np.float64).reshape(operator.size, -1)
    target = tol * norms(columns)
    s = np.zeros_like(columns) if start is None else start.reshape(columns.shape).copy()
    r = columns - operator.dot(s) if start is not None else columns.copy()
    iterations, restarts = 0, 0
    while True:
        limit = max_iter - iterations
        if columns.shape[1] == 1:
            iterations += _one(operator, s[:, 0], r[:, 0], target[0], limit, precondition)
        else:
            iterations += _several(operator, s, r, target, limit, precondition)
        r, relative, scores = residual(operator, s, columns)
        if relative <= tol:
            status = "converged"
            break
        restarts += 1
        if iterations >= max_iter or restarts > RESTARTS:
            status = unfinished(name, tol, relative, iterations, max_iter)
            break
    value = s.reshape(g.shape)
    return Solution(value, status, iterations, relative, scored=(value, scores))


def unfinished(name: str, tol: float, relative: float, iterations: int, max_iter: int) -> str:
    change = "raise solver.max_iter or solver.tol"
    if iterations < max_iter:
        change = "rounding allows no more; raise solver.tol (1e-5 suits float32)"
    return (
        f"solver {name!r} reached a relative residual of {relative:.1e} after {iterations} "
        f"iterations, not {tol:.0e}: {change}"
    )


def descend(
    dot: Callable[[Array], Array],
    s: Array,
    r: Array,
    solve: Callable[[Array], Array],
    done: Callable[[Array, float], bool],
    limit: int,
) -> tuple[int, bool]:
    """The recursion for one vector, in place on s and r = g − H s, with z = solve(r) = M⁻¹ r.

    Until ``done(r, rᵀz)``, or ``limit`` products with H: how many, and whether it is done. It also
    ends where H or M bends downwards, which for positive definite ones is rounding.
    """
    p = np.array(solve(r))
    rho = float(r @ p)
    for products in range(1, limit + 1):
        q = dot(p)
        bend = float(p @ q)
        if not np.isfinite(bend):
            raise UidsError(NOT_FINITE)
        if bend <= 0:
            return products, False
        daxpy(p, s, a=rho / bend)  # in place
        daxpy(q, r, a=-rho / bend)
        z = solve(r)
        before, rho = rho, float(r @ z)
        if done(r, rho):
            return products, True
        if not rho > 0:
            return products, False
        p *= rho / before
        p += z
    return limit, False


def _one(
    operator: Operator,
    s: Array,
    r: Array,
    target: float,
    limit: int,
    precondition: Precondition | None,
) -> int:
    def dot(p: Array) -> Array:
        return operator.dot(p[:, None])[:, 0]

    def solve(r: Array) -> Array:
        return precondition(r[:, None])[:, 0] if precondition else r

    def done(r: Array, rho: float) -> bool:
        return bool(np.sqrt(r @ r) <= target)

    if limit == 0 or done(r, 0.0):
        return 0
    products, well = descend(dot, s, r, solve, done, limit)
    if not well and products < limit:
        raise UidsError(NOT_POSITIVE_DEFINITE)
    return products


def _several(
    operator: Operator,
    s: Array,
    r: Array,
    target: Array,
    limit: int,
    precondition: Precondition | None,
) -> int:
    """The recursion for each column, in place on s and r, with one product for all that go on.

    Columns that are done keep still; once a quarter of them are, the others move together, so that
    no product is made for nothing."""
    iterations = 0
    left = np.arange(s.shape[1])  # the columns of s that the block below has
    S, R = s, r
    z = precondition(R) if precondition else R
    p = z.copy()
    rho = np.einsum("ij,ij->j", R, z)
    while iterations < limit:
        active = norms(R) > target[left]
        if not active.any():
            break
        if 4 * active.sum() <= 3 * len(active):
            if S is not s:
                s[:, left], r[:, left] = S, R
            left, rho = left[active], rho[active]
            S, R, p = (np.ascontiguousarray(block[:, active]) for block in (S, R, p))
            active = np.ones(len(left), dtype=bool)
        q = operator.dot(p)
        bend = np.einsum("ij,ij->j", p, q)
        if not np.isfinite(bend).all():
            raise UidsError(NOT_FINITE)
        if (bend[active] <= 0).any():
            raise UidsError(NOT_POSITIVE_DEFINITE)
        step = np.where(active, rho / np.where(active, bend, 1), 0)
        S += step * p
        R -= step * q
        z = precondition(R) if precondition else R
        before, rho = rho, np.einsum("ij,ij->j", R, z)
        p *= np.where(active, rho / np.where(before > 0, before, 1), 0)
        p += z
        iterations += 1
    if S is not s:
        s[:, left], r[:, left] = S, R
    return iterations
