"""H s = g in the space of the rows, for X of many more columns than rows, as text has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uids.backends import Array
from uids.models.logistic.products import add
from uids.solvers import RowSolution
from uids.solvers.conjugate import descend
from uids.system.threads import one_blas_thread

if TYPE_CHECKING:
    from uids.models.logistic.curvature import LogisticCurvature


class LogisticDual:
    """With a_i = √(C w_i) and A = nC·H = I + Xᵀ diag(a²) X, the solution of A s = g is
    s = g − Xᵀ(a ∘ y), where D y = a ∘ X g and D = I + diag(a) X Xᵀ diag(a).

    D is as large as the rows are many, and has the eigenvalues of A but for ones: conjugate
    gradients take as many iterations as without a preconditioner, each of one product X Xᵀ u and no
    vector of the length of the columns. For the residual ρ of y, that of s is Xᵀ(a ∘ ρ).

    The intercept β has no penalty. It stands for a condition, aᵀ y = its part of g: y begins with
    that, and the iterations go on in what is orthogonal to a.
    """

    def __init__(self, curvature: LogisticCurvature) -> None:
        self.X, self.curvature = curvature.over.X, curvature
        self.intercept = curvature.fitted.intercept
        self.a = np.sqrt(curvature.fitted.C * curvature.row_curvature()[:, 0])
        self.square = float(self.a @ self.a)

    def projected(self, r: Array) -> Array:
        """r less its part along a, in place, where there is an intercept."""
        if self.intercept:
            r -= self.a * (float(self.a @ r) / self.square)
        return r

    def solve(self, g: Array, goal: float, limit: int, start: Array | None = None) -> RowSolution:
        with one_blas_thread(not self.X.uses_blas(1)):
            return self._solve(g, goal, limit, start)

    def _solve(self, g: Array, goal: float, limit: int, y: Array | None) -> RowSolution:
        a, scale, d = self.a, self.curvature.scale, self.X.shape[1]
        along = self.X.dot(g[:d])
        if y is None:
            y = a * (g[-1] / self.square) if self.intercept else np.zeros(len(a))
        outer = self.X.outer_dot(a * y) if y.any() else 0.0
        r = self.projected(a * (along - outer) - y)
        rho, beta, bend, ratio = float(r @ r), 0.0, 0.0, 0.0

        def dot(p: Array) -> Array:
            # rᵀDr from pᵀDp of this direction and the last, which are conjugate: so the ratio of
            # ‖Xᵀ(a ∘ r)‖ to ‖r‖ is known for the residual before this step, and gets smaller.
            nonlocal bend, ratio
            q = self.projected(a * self.X.outer_dot(a * p) + p)
            before, bend = bend, float(p @ q)
            ratio = np.sqrt(max(0.0, (bend + beta**2 * before) / rho - 1))
            return q

        def done(r: Array, new: float) -> bool:
            nonlocal rho, beta
            rho, beta = new, new / rho
            return bool(ratio * np.sqrt(rho) <= goal)

        products = descend(dot, y, r, lambda r: r, done, limit)[0] if rho > 0 else 0
        s = self.X.tdot(a * y * -scale)
        add(g[:d], s, scale)
        # From s itself, not from the recursion: what is near 0 here may be the difference of large
        # numbers there.
        scores = self.X.dot(s)
        if self.intercept:
            shift = float(a @ (scale * y - a * scores)) / self.square
            s, scores = np.append(s, shift), scores + shift
        return RowSolution(s, y, scores, products)
