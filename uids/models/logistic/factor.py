"""The direction of a Newton step of a small problem: −H⁻¹ g by the factor of a dense H."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from uids.backends import Array
from uids.errors import UidsError
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.point import TOO_LARGE
from uids.models.logistic.products import peak
from uids.solvers.conjugate import descend
from uids.system.threads import one_blas_thread
from uids.system.tuning import BLAS_SPEED, NEWTON, Newton


class FactorStep:
    """By Cholesky at the first step. At those after it H is hardly another: its factor then
    preconditions conjugate gradients, of which some iterations cost less than a dense H.
    """

    def __init__(self, tuning: Newton = NEWTON) -> None:
        self.tuning = tuning
        self.L: Array | None = None

    def solve(self, curvature: LogisticCurvature, gradient: Array, floor: float) -> Array | None:
        """−H⁻¹ g; None for problems that are not small, and where rounding leaves an H that is not
        positive definite. ``floor``: a coordinate of the next gradient that is small enough."""
        if not self.suits(curvature):
            return None
        s = None if self.L is None else self._again(curvature, gradient, floor)
        return self._anew(curvature, gradient) if s is None else s

    def suits(self, curvature: LogisticCurvature) -> bool:
        # With more rows a dense H at each step is dearer than a few products.
        small = self._work(curvature) <= self.tuning.dense_work
        return small and not (curvature.over.X.sparse and curvature.size > self.tuning.dense_sparse)

    def _work(self, curvature: LogisticCurvature) -> float:
        # Of few rows with many columns the factor is what costs: a third of their number cubed.
        return curvature.size**2 * (curvature.rows + curvature.size / 3)

    def _anew(self, curvature: LogisticCurvature, gradient: Array) -> Array | None:
        self.L = None
        H = curvature.dense()
        if not np.isfinite(H).all():
            raise UidsError(TOO_LARGE)
        try:
            self.L, _ = cho_factor(H.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        s = cho_solve((self.L, True), -gradient, check_finite=False)
        return s if np.isfinite(s).all() and s @ gradient < 0 else None

    def _again(self, curvature: LogisticCurvature, gradient: Array, floor: float) -> Array | None:
        """With the factor that there is; None where that takes too many iterations."""
        each = (curvature.product_work + curvature.size**2) * BLAS_SPEED
        limit = int(self._work(curvature) / (2 * each))
        if limit < self.tuning.factor_fewest:
            return None
        s, r = np.zeros(len(gradient)), -gradient

        def solve(r: Array) -> Array:
            return np.asarray(cho_solve((self.L, True), r, check_finite=False))

        goal = self.tuning.near**2 * float(r @ solve(r))

        def done(r: Array, rho: float) -> bool:
            return rho <= goal or peak(r) <= floor

        with one_blas_thread(not curvature.uses_blas(1)):
            _, well = descend(curvature.dot, s, r, solve, done, limit)
        return s if well and np.isfinite(s).all() and s @ gradient < 0 else None
