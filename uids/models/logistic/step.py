"""The direction of a Newton step: −H⁻¹ g, roughly."""

from __future__ import annotations

import numpy as np

from uids.backends import Array
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.head import Preconditioner, cheap_head, preconditioner, suits_head
from uids.models.logistic.products import peak
from uids.solvers import Dual
from uids.solvers.conjugate import descend
from uids.system.tuning import NEWTON, Newton


class Step:
    """−H⁻¹ g, roughly, by preconditioned conjugate gradients; what it learns serves the next step.

    The head of the preconditioner is made when a solve turns out long, and then kept, since near
    the optimum H hardly changes; the diagonal alone is so cheap that each step has its own.
    """

    def __init__(self, loosest: float, tuning: Newton = NEWTON) -> None:
        self.loosest, self.tuning = loosest, tuning
        self.in_rows = True  # as long as that goes well, where the curvature has a dual
        self.last_in_rows = False
        self.rough = True  # as long as that goes well, products in float32 where they are quicker
        self.last_rough = False
        self.M: Preconditioner | None = None
        self.last_norm = 0.0  # of the gradient before, as ``_eta`` was given it
        self.products = self.last_products = 0

    def solve(
        self, curvature: LogisticCurvature, gradient: Array, floor: float
    ) -> tuple[Array, Array | None]:
        """s, and X s where it is known.

        Until ‖g + H s‖ ≤ η ‖g‖ in the norm of M⁻¹, in which no badly scaled column hides the
        others, and the largest coordinate, which is what ``tol`` looks at, has come down to √η of
        what it was; or no coordinate of g + H s, the next gradient to first order, is above
        ``floor``.

        η follows Eisenstat and Walker (1996): loose while steps gain little, since a better answer
        to the wrong equation is no better step, and ever tighter as they gain more.
        """
        dual = curvature.dual() if self.in_rows else None
        self.last_in_rows = dual is not None
        self.last_rough = dual is None and self.rough and curvature.rough
        if dual is not None:
            return self._in_rows(dual, gradient, floor)
        M = self.M
        cheap = cheap_head(curvature)
        if M is None or not M.head or cheap or self.last_products > self.tuning.stale_products:
            M = preconditioner(curvature, head=cheap or (M is not None and bool(M.head)))
        eta = self._eta(float(np.sqrt(gradient @ (gradient * M.inverse))))
        s, r = np.zeros(len(gradient)), -gradient
        limit = self.tuning.inner
        if not M.head and suits_head(curvature):
            limit = self.tuning.head_products
        self.last_products, done = self._conjugate(curvature, s, r, M, gradient, eta, floor, limit)
        if not done and self.last_products == limit < self.tuning.inner:
            M = preconditioner(curvature, head=True)
            more, _ = self._conjugate(curvature, s, r, M, gradient, eta, floor, self.tuning.inner)
            self.last_products += more
        if not s.any():  # for rounding H bends downwards at once: what there is must do
            s -= M.solve(gradient, r)
        self.M = M
        self.products += self.last_products
        # The more iterations, the larger the condition, by which the rounding of products grows.
        self.rough = self.rough and self.last_products <= self.tuning.rough_products
        return s, None

    def surely(self) -> bool:
        """From now on without the dual, which is not for columns or rows of very different size,
        and by exact products. Whether that is worth another try: the step that failed was not."""
        before, self.last_norm = self.last_in_rows or self.last_rough, 0.0  # the next is another
        self.in_rows = self.last_in_rows = self.rough = self.last_rough = False
        return before

    def _eta(self, size: float) -> float:
        before, self.last_norm = self.last_norm, size
        return min(self.loosest, (size / before) ** 1.6) if before else self.loosest

    def _in_rows(self, dual: Dual, gradient: Array, floor: float) -> tuple[Array, Array]:
        """By the dual, which knows ‖g + H s‖ only: the largest coordinate is taken to be the same
        part of it as in g. It knows X s too."""
        size = float(np.sqrt(gradient @ gradient))
        floor *= size / peak(gradient)
        goal = self._eta(size) * size
        goal = floor if goal <= self.tuning.finish * floor else goal
        s, _, U, self.last_products = dual.solve(gradient, goal, self.tuning.inner_rows)
        self.products += self.last_products
        if self.last_products >= self.tuning.inner_rows:
            self.in_rows, self.last_norm = False, 0.0
        return np.negative(s, out=s), np.negative(U, out=U).reshape(len(U), -1)

    def _conjugate(
        self,
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
            return height <= floor or (
                rho <= goal and self.tuning.finish * floor < height <= ceiling
            )

        dot = curvature.rough_dot if self.last_rough else curvature.dot
        return descend(dot, s, r, lambda r: M.solve(r, z), done, limit)
