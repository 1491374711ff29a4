"""LiSSA: the Neumann series of H⁻¹, each term from a batch of rows (Agarwal et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uids.backends import Array
from uids.errors import UidsError, require
from uids.solvers.direct import NOT_POSITIVE_DEFINITE
from uids.solvers.operator import Operator
from uids.solvers.residual import residual
from uids.solvers.solution import Solution
from uids.solvers.stopping import check_stopping


@dataclass(frozen=True)
class LiSSA:
    """δ ← δ + (r − H_B δ) / scale for ``depth`` random batches B, averaged over ``repeats``.

    The series converges when ``scale`` is above the largest eigenvalue of every H_B; unless given
    it is found by power iteration on H and on some batches. The noise of the batches leaves an
    error in proportion to r, so the series is run again on what is left, r = g − H s, until
    ‖r‖ ≤ tol ‖g‖ or ``max_iter`` batches are used up. Each round ends with the true residual.

    The number of batches grows with the condition number: the other solvers are better for all
    but the curious. It is here since it is what others use.
    """

    scale: float | None = None
    batch: int = 256
    depth: int = 1000
    repeats: int = 1
    tol: float = 1e-3
    max_iter: int = 200_000
    seed: int = 0
    on_failure: str = "error"

    def __post_init__(self) -> None:
        for name in ("batch", "depth", "repeats"):
            require(getattr(self, name) >= 1, name, "1 or more", getattr(self, name))
        if self.scale is not None:
            require(0 < self.scale < np.inf, "scale", "positive or null", self.scale)
        require(self.seed >= 0, "seed", "0 or more", self.seed)
        check_stopping(self.tol, self.max_iter, self.on_failure)

    def solve(self, operator: Operator, g: Array) -> Solution:
        rng = np.random.default_rng(self.seed)
        scale = self.scale or spectrum_bound(operator, self.batch, rng)
        s = np.zeros_like(g)
        r, relative, used = g, 1.0, 0
        while relative > self.tol and used < self.max_iter:
            depth = min(self.depth, -(-(self.max_iter - used) // self.repeats))
            series = [self._series(operator, r, scale, depth, rng) for _ in range(self.repeats)]
            s += np.mean(series, axis=0)
            used += depth * self.repeats
            before = relative
            with np.errstate(over="ignore", invalid="ignore"):
                r, relative, _ = residual(operator, s, g)
            if not np.isfinite(relative) or relative > 10 * max(before, 1.0):
                raise UidsError(
                    f"solver 'lissa' diverges with scale {scale:.3g}: raise solver.scale, or leave "
                    "it null to have it found"
                )
        status = "converged"
        if relative > self.tol:
            status = (
                f"solver 'lissa' reached a relative residual of {relative:.1e} after {used} "
                f"batches, not {self.tol:.0e}: raise solver.max_iter or solver.batch, or use "
                "solver=cg"
            )
        return Solution(s, status, used, relative)

    def _series(
        self, operator: Operator, r: Array, scale: float, depth: int, rng: np.random.Generator
    ) -> Array:
        delta = r / scale
        width = min(self.batch, operator.rows)
        with np.errstate(over="ignore", invalid="ignore"):  # a series that diverges is told below
            for _ in range(depth):
                index = rng.integers(0, operator.rows, width)
                delta = delta + (r - operator.dot_rows(delta, index)) / scale
        return delta


def spectrum_bound(operator: Operator, batch: int, rng: np.random.Generator) -> float:
    """A tenth above the largest eigenvalue seen, of H and of eight batches."""
    width = min(batch, operator.rows)

    def largest(index: Array | None) -> float:
        v = rng.standard_normal(operator.size)
        value = 0.0
        for _ in range(20):
            v /= np.linalg.norm(v)
            product = operator.dot(v) if index is None else operator.dot_rows(v, index)
            if not np.isfinite(product).all():
                raise UidsError("the Hessian product is not finite: look for huge values in X")
            if v @ product <= 0:
                raise UidsError(NOT_POSITIVE_DEFINITE)
            v = product
            value = float(np.linalg.norm(v))
        return value

    batches = (rng.integers(0, operator.rows, width) for _ in range(8))
    return 1.1 * max(largest(None), *(largest(index) for index in batches))
