"""Preconditioned conjugate gradients, for one or several right-hand sides at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from uids.backends import Array
from uids.errors import UidsError
from uids.solvers import Operator, Solution, one_blas_thread, residual
from uids.solvers.direct import NOT_POSITIVE_DEFINITE

Precondition = Callable[[Array], Array]


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
    from s (at most a few times: more cannot help in floating point). And a column that is done
    keeps still, so that the others cannot push it about by 0/0.
    """
    columns = g.reshape(operator.size, -1)
    size = np.linalg.norm(columns, axis=0)
    target = tol * size
    s = np.zeros_like(columns) if start is None else start.reshape(columns.shape).copy()
    r = columns - operator.dot(s) if start is not None else columns.copy()
    iterations, restarts = 0, 0
    while True:
        with one_blas_thread(operator):
            iterations = _descend(operator, s, r, target, iterations, max_iter, precondition)
        r, relative = residual(operator, s, columns)
        if relative <= tol:
            status = "converged"
            break
        restarts += 1
        if iterations >= max_iter or restarts > 5:
            change = "raise solver.max_iter or solver.tol"
            if iterations < max_iter:
                change = "rounding allows no more; raise solver.tol (1e-5 suits float32)"
            status = (
                f"solver {name!r} reached a relative residual of {relative:.1e} after {iterations} "
                f"iterations, not {tol:.0e}: {change}"
            )
            break
    return Solution(s.reshape(g.shape), status, iterations, relative)


def _descend(
    operator: Operator,
    s: Array,
    r: Array,
    target: Array,
    iterations: int,
    max_iter: int,
    precondition: Precondition | None,
) -> int:
    """The recursion, in place on s and r, until its own residual is below the target."""
    z = precondition(r) if precondition else r
    p = z.copy()
    rho = np.einsum("ij,ij->j", r, z)
    while iterations < max_iter:
        active = np.linalg.norm(r, axis=0) > target
        if not active.any():
            break
        q = operator.dot(p)
        bend = np.einsum("ij,ij->j", p, q)
        if not np.isfinite(bend).all():
            raise UidsError("the Hessian product is not finite: look for huge values in X")
        if (bend[active] <= 0).any():
            raise UidsError(NOT_POSITIVE_DEFINITE)
        step = np.where(active, rho / np.where(active, bend, 1), 0)
        s += step * p
        r -= step * q
        z = precondition(r) if precondition else r
        before, rho = rho, np.einsum("ij,ij->j", r, z)
        p *= np.where(active, rho / np.where(before > 0, before, 1), 0)
        p += z
        iterations += 1
    return iterations
