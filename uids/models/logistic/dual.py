"""H s = g in the space of the rows, for X of many more columns than rows, as text has."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from uids.backends import Array
from uids.models.logistic.frequent import FrequentColumns, frequent_columns
from uids.models.logistic.products import add
from uids.solvers import RowSolution
from uids.solvers.conjugate import descend

if TYPE_CHECKING:
    from uids.models.logistic.curvature import LogisticCurvature


class Conditioned(NamedTuple):
    """Z = M⁻¹ R for some M near D, and for the columns F of X that M knows of ‖Fᵀ L R‖² and
    ‖Fᵀ L Z‖²."""

    Z: Array
    known: float
    left: float


Precondition = Callable[[Array], Conditioned]  # of R, (n,) or (n, k)


class LogisticDual:
    """With L_i L_iᵀ = C W_i and A = nC·H = I + Xᵀ L Lᵀ X, the solution of A s = g is
    s = g − Xᵀ L y, where D y = Lᵀ X g and D = I + Lᵀ X Xᵀ L.

    D is as large as the rows are many, and has the eigenvalues of A but for ones: conjugate
    gradients take as many iterations as without a preconditioner, each of one product X Xᵀ u and no
    vector of the length of the columns. For the residual ρ of y, that of s is Xᵀ L ρ.

    The intercept β has no penalty. It stands for a condition, Σ L_i y_i = its part of g: y begins
    with that, and the iterations go on in what is orthogonal to all Lᵀ 1 β.

    Here each row has one score, and L is a_i = √(C w_i); y is (n,).
    """

    def __init__(self, curvature: LogisticCurvature) -> None:
        self.X, self.curvature = curvature.over.X, curvature
        self.intercept = curvature.fitted.intercept
        self.begin()

    def begin(self) -> None:
        self.a = np.sqrt(self.curvature.fitted.C * self.curvature.row_curvature()[:, 0])
        self.square = float(self.a @ self.a)

    @property
    def sound(self) -> bool:
        """Whether any row has a curvature, without which the intercept has no condition."""
        return self.square > 0

    def spread(self, y: Array) -> Array:
        """L y."""
        return self.a * y

    def gathered(self, z: Array) -> Array:
        """Lᵀ z; z may be changed."""
        return self.a * z

    def projected(self, r: Array) -> Array:
        """r less what belongs to an intercept, in place, where there is one."""
        if self.intercept:
            r -= self.a * (float(self.a @ r) / self.square)
        return r

    def preconditioner(self, goal: float, size: float) -> Precondition:
        """Of a solve for a right-hand side of that size, down to a residual of ``goal``. Here M is
        I, which no diagonal betters."""
        return lambda R: Conditioned(R, 0.0, 0.0)

    def first(self, g: Array) -> Array:
        """The least y whose condition holds."""
        return self.a * (g[-1] / self.square) if self.intercept else np.zeros(len(self.a))

    def shift(self, y: Array, scores: Array, g: Array) -> Array:
        """The intercept, from scores without it."""
        scale = self.curvature.scale
        return np.array([float(self.a @ (scale * y - self.a * scores)) / self.square])

    def solve(self, g: Array, goal: float, limit: int, start: Array | None = None) -> RowSolution:
        k, scale, d = self.curvature.columns, self.curvature.scale, self.X.shape[1]
        top = g[: d * k] if k == 1 else g[: d * k].reshape(d, k)
        along = self.X.dot(top)
        y = self.first(g) if start is None else start
        if y.any():
            along -= self.X.outer_dot(self.spread(y))
        r = self.gathered(along)
        r -= y
        shape, r = r.shape, self.projected(r).reshape(-1)
        precondition = self.preconditioner(goal, float(np.sqrt(g @ g)))
        rho = beta = bend = ratio = known = left = size = 0.0

        def solve(r: Array) -> Array:
            nonlocal rho, beta, known, left, size
            Z, known, left = precondition(r.reshape(shape))
            z = Z.reshape(-1)
            before, rho, size = rho, float(r @ z), float(z @ z)
            beta = rho / before if before else 0.0
            return z

        def dot(p: Array) -> Array:
            # zᵀDz from pᵀDp of this direction and the last, which are conjugate: so the ratio of
            # ‖Xᵀ L z‖² to ‖z‖² is known for the z = M⁻¹ r before this step, and gets smaller. But
            # for the columns that M knows of, it is taken for that of r.
            nonlocal bend, ratio
            P = p.reshape(shape)
            q = self.gathered(self.X.outer_dot(self.spread(P)))
            q += P
            q = self.projected(q).reshape(-1)
            before, bend = bend, float(p @ q)
            ratio = max(0.0, (bend + beta**2 * before - left) / size - 1)
            return q

        def done(r: Array, _: float) -> bool:
            return known + ratio * float(r @ r) <= goal**2

        some = float(r @ r) > 0  # so small that its square is 0, it is 0 here
        products = descend(dot, y.reshape(-1), r, solve, done, limit)[0] if some else 0
        s = self.X.tdot(self.spread(y) * -scale)
        add(top, s, scale)
        # From s itself, not from the recursion: what is near 0 here may be the difference of large
        # numbers there.
        scores = self.X.dot(s)
        s = s.reshape(-1)
        if self.intercept:
            shift = self.shift(y, scores, g)
            s = np.append(s, shift)
            scores += shift
        return RowSolution(s, y, scores, products)


class SoftmaxDual(LogisticDual):
    """Of several classes: L_i = √(C ω_i) D_i (I − q_i q_iᵀ) with D_i = diag(q_i) and q_i = √p_i, of
    length 1; y is (n, k), of which each row stays orthogonal to q_i."""

    def begin(self) -> None:
        C, weights = self.curvature.fitted.C, self.curvature.weights
        self.q = np.sqrt(self.curvature.state)
        self.rate = rate = np.full(len(self.q), C) if weights is None else C * weights
        self.a = self.q * np.sqrt(rate)[:, None]
        self.square = float(np.einsum("ik,ik->", self.a, self.a))
        found = self._of_intercepts(rate) if self.intercept else None
        self.flat = self.intercept and found is None  # no inverse to be had
        self.inverse: Array = np.zeros((0, 0)) if found is None else found

    def _of_intercepts(self, rate: Array) -> Array | None:
        """Of Σ L_i L_iᵀ = C Σ ω_i W_i, (k, k), made definite along 𝟏."""
        P = self.curvature.state
        M = np.diag(rate @ P) - (P * rate[:, None]).T @ P
        k = len(M)
        size = float(np.trace(M)) / k
        try:
            inverse = np.linalg.inv(M + size / k)
        except np.linalg.LinAlgError:
            return None
        return inverse if size > 0 and np.isfinite(inverse).all() else None

    @property
    def sound(self) -> bool:
        return self.square > 0 and not self.flat

    def gathered(self, z: Array) -> Array:
        z *= self.a
        z -= self.q * np.einsum("ik,ik->i", self.q, z)[:, None]
        return z

    def of_intercept(self, beta: Array) -> Array:
        """Lᵀ 1 β."""
        return self.gathered(np.tile(beta, (len(self.a), 1)))

    def projected(self, r: Array) -> Array:
        if self.intercept:
            r -= self.of_intercept(self.inverse @ np.einsum("ik,ik->k", self.a, r))
        return r

    def preconditioner(self, goal: float, size: float) -> Precondition:
        """By the columns that many rows have, unless so few iterations are wanted that they would
        not pay."""
        if goal >= self.curvature.tuning.frequent_goal * size or self.frequent is None:
            return super().preconditioner(goal, size)
        return self._conditioned

    @cached_property
    def frequent(self) -> FrequentColumns | None:
        return frequent_columns(self.X, self.curvature.state * self.rate[:, None])

    def _conditioned(self, R: Array) -> Conditioned:
        assert self.frequent is not None
        known = self.frequent.gathered(self.spread(R))
        less = self.gathered(self.frequent.solved(known))
        Z = self.projected(np.subtract(R, less, out=less))
        left = self.frequent.gathered(self.spread(Z))
        return Conditioned(Z, float(np.sum(known**2)), float(np.sum(left**2)))

    def first(self, g: Array) -> Array:
        if not self.intercept:
            return np.zeros(self.a.shape)
        own = g[-self.a.shape[1] :]
        return self.of_intercept(self.inverse @ (own - own.mean()))

    def shift(self, y: Array, scores: Array, g: Array) -> Array:
        """Along their mean, of which no row knows, the intercepts have the term that makes H
        positive definite."""
        k, fitted = self.a.shape[1], self.curvature.fitted
        left = self.curvature.scale * y - self.gathered(scores.copy())
        shift = self.inverse @ np.einsum("ik,ik->k", self.a, left)
        return shift - shift.mean() + g[-k:].mean() * self.curvature.scale / fitted.C
