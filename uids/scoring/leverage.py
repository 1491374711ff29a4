"""What each row's own features say, M_i = E_iᵀ H⁻¹ E_i, and the norms ‖H⁻¹ ∇l_i‖: exactly where
that is cheap, else from random vectors, and which of the two it will be.

    M_i = mean of (E_iᵀ s)(E_iᵀ s)ᵀ over s = H⁻¹ b,  b Gaussian with covariance H.

The squares of m such vectors leave a relative error of √(2/m). But the part of b that stands for
the penalty gives an s₀, which s would be if the rows said nothing, and E_iᵀ(s₀ − s) has a
covariance of something that is known less M_i: a second estimate, which is good where a row says
little, and independent of the first but for the intercept. The two are weighed by their variances.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from uids.backends import Array
from uids.models import Curvature, RowForms, Rows
from uids.solvers import AdoptedSolver, Precondition
from uids.solvers.direct import bytes_needed, inverse
from uids.solvers.rough import rough, rough_precondition
from uids.system.memory import memory
from uids.system.streams import Stream, generator
from uids.system.tuning import BLAS_SPEED, Norms

CHOLESKY, ROWS, PROBES = "cholesky", "rows", "probes"


@dataclass(frozen=True)
class LeveragePlan:
    """How it will be done, before it is: ``how`` is "cholesky", "rows" (both exact) or "probes".

    ``work`` is in multiply-adds of a sparse product, some 10⁹ a second on a core; those of matrix
    multiplication are quicker, and count less.
    """

    how: str
    work: float
    sentence: str


@dataclass(frozen=True)
class Estimate:
    """``error`` is the relative standard error over the random vectors, the root of its mean square
    over the rows; 0 where the value is exact."""

    value: Array
    error: float


@dataclass(frozen=True)
class Task:
    """What there is to do, and with what."""

    curvature: Curvature
    train: Rows
    solver: AdoptedSolver
    probes: int
    seed: int
    tuning: Norms
    chosen: list[Precondition | None] = field(default_factory=list)  # once it is

    def width(self) -> int:
        """How many vectors of n and of size stay within a block of memory."""
        numbers = max(len(self.train) * self.curvature.columns, self.curvature.size)
        return max(1, self.tuning.block // (8 * numbers))

    def plan(self, forms: RowForms | None) -> LeveragePlan:
        """For the forms of the rows, or without them for ‖ψ‖; no product is made."""
        exact = self._exact_ways(forms)
        probes = self._probes_work(forms is not None)
        ways, tuning = self.tuning.ways, self.tuning
        rows, size = f"{len(self.train):,} rows", f"{self.curvature.size:,} parameters"
        open_ways = {how: work for how, work in exact.items() if how in ways}
        best = min(open_ways, key=lambda how: open_ways[how], default=PROBES)
        limit = max(tuning.exact_work, tuning.exact_worth * probes)
        if best == PROBES or (PROBES in ways and open_ways[best] > limit):
            products = self.probes * tuning.probe_products
            sentence = (
                f"{rows} × {size}: from {self.probes} random vectors, about {products:,} products "
                f"with H ({probes:.1e} multiply-adds)"
            )
            return LeveragePlan(PROBES, probes, sentence)
        how = "a factorisation of H" if best == CHOLESKY else "the space of the rows"
        sentence = f"{rows} × {size}: exactly, by {how} ({open_ways[best]:.1e} multiply-adds)"
        return LeveragePlan(best, open_ways[best], sentence)

    def _speed(self) -> float:
        return BLAS_SPEED if self.curvature.uses_blas(32) else 1.0

    def _probes_work(self, forms: bool) -> float:
        product, size = self.curvature.product_work, self.curvature.size
        # Beside the products a dozen passes over the vectors of an iteration; and E_iᵀ s, E_iᵀ s₀.
        each = self.tuning.probe_products * (product / self._speed() + 10 * size)
        return self.probes * (each + (2 if forms else 1) * product / self._speed())

    def _exact_ways(self, forms: RowForms | None) -> dict[str, float]:
        curvature, size = self.curvature, self.curvature.size
        room = memory() / self.tuning.memory_share
        ways = {}
        if bytes_needed(size) <= room:
            factorise = size**3 / 2 / BLAS_SPEED
            if forms is not None:
                ways[CHOLESKY] = factorise + forms.exact_work(self.train)
            else:
                products = curvature.dense_cost + size / 2 / self._speed()
                ways[CHOLESKY] = factorise + products * curvature.product_work
        in_rows = forms.in_rows_work(self.train) if forms is not None else None
        if in_rows is not None and in_rows[1] <= room:
            ways[ROWS] = in_rows[0]
        return ways

    def forms(self, forms: RowForms) -> Estimate:
        """M_i, (n, k, k)."""
        how = self.plan(forms).how
        if how == ROWS:
            value = forms.in_rows(self.train)
            assert value is not None  # what the plan has asked for
            return Estimate(value, 0.0)
        if how == CHOLESKY:
            return Estimate(forms.exact(self.train, inverse(self.curvature)), 0.0)
        return self._probed_forms(forms)

    def _probed_forms(self, forms: RowForms) -> Estimate:
        """Vectors by the block, until the error is small enough or ``probes`` of them are used."""
        rng = generator(self.seed, Stream.LEVERAGE)
        F = forms.free()
        solved = None if F is None else self._solved(F, self.tuning.free_tol)
        sums = Sums(forms.inner(self.train), forms.known(self.train, solved))
        while sums.count < self.probes:
            count = min(self.width(), self.tuning.probe_block, self.probes - sums.count)
            B, S0 = forms.noise(count, rng)
            S = self._solved(B, self.tuning.probe_tol)
            S0 -= S
            sums.add(forms.scores(self.train, S), forms.scores(self.train, S0))
            if sums.count >= 2 * self.tuning.probe_block:
                estimate = sums.estimate()
                if estimate.error <= self.tuning.probe_error:
                    return estimate
        return sums.estimate()

    def norms(self) -> Estimate:
        """‖ψ_i‖, (n,)."""
        total = np.zeros(len(self.train))
        if self.plan(None).how == CHOLESKY:
            self._add_squares(total, inverse(self.curvature))
            return Estimate(np.sqrt(total), 0.0)
        rng = generator(self.seed, Stream.NORMS)
        for count in self._counts():
            Z = rng.standard_normal((self.curvature.size, count))
            self._add_squares(total, self._solved(Z, self.tuning.probe_tol))
        # The root of a mean of m squares: half the relative error of the mean.
        return Estimate(np.sqrt(total / self.probes), float(np.sqrt(0.5 / self.probes)))

    def _add_squares(self, total: Array, S: Array) -> None:
        for first in range(0, S.shape[1], self.width()):
            part = np.ascontiguousarray(S[:, first : first + self.width()])
            products = self.curvature.row_products(self.train, part)
            total += np.einsum("il,il->i", products, products)

    def _counts(self) -> list[int]:
        width = min(self.width(), self.tuning.probe_block)
        return [min(width, self.probes - first) for first in range(0, self.probes, width)]

    def pair_work(self, iterations: int) -> float:
        """Of one row's H⁻¹ ∇l_i, to ``pair_tol``; ``iterations`` is what a solve took that went to
        the end, on the same H."""
        products = max(self.tuning.pair_products, iterations // 10)
        return products * (self.curvature.product_work / self._speed() + 10 * self.curvature.size)

    def roughly(self, G: Array) -> Array:
        """H⁻¹ G to ``pair_tol``."""
        return self._solved(G, self.tuning.pair_tol)

    def _solved(self, B: Array, tol: float) -> Array:
        most = self.tuning.probe_most
        solution = rough(self.curvature, B, self._precondition(B), tol, most)
        if not solution.converged:  # the one that was chosen may do better, or says what to change
            solution = self.solver.solve(self.curvature, B)
        return solution.value

    def _precondition(self, B: Array) -> Precondition | None:
        if not self.chosen:
            first, tol = np.ascontiguousarray(B[:, 0]), self.tuning.probe_tol
            self.chosen.append(rough_precondition(self.curvature, first, tol))
        return self.chosen[0]


class Sums:
    """Over the random vectors: of u uᵀ and v vᵀ, and of y = uᵀWu and z = vᵀWv and their squares,
    where u = E_iᵀ s and v = E_iᵀ(s₀ − s)."""

    def __init__(self, inner: Array, known: Array) -> None:
        self.count, self.inner, self.known = 0, inner, known
        self.uu, self.vv = np.zeros(known.shape), np.zeros(known.shape)
        self.moments = np.zeros((4, len(known)))  # y, z, y², z²

    def add(self, U: Array, V: Array) -> None:
        self.count += U.shape[2]
        self.uu += U @ U.transpose(0, 2, 1)
        self.vv += V @ V.transpose(0, 2, 1)
        y, z = ((part * (self.inner @ part)).sum(axis=1) for part in (U, V))
        for sums, value in zip(self.moments, (y, z, y * y, z * z), strict=True):
            sums += value.sum(axis=1)

    def estimate(self) -> Estimate:
        """a u uᵀ + (1 − a)(known − v vᵀ) with the a of the least variance, if they are independent.
        What the intercept does to that is small."""
        if self.count <= 2:  # too few to learn a from
            return Estimate(self.uu / self.count, float(np.sqrt(2 / self.count)))
        y, z, yy, zz = self.moments / self.count
        own, other = yy - y * y, zz - z * z
        both = own + other
        a = np.where(both > 0, other / np.where(both > 0, both, 1), 1)
        share = a[:, None, None]
        value = (share * self.uu + (1 - share) * (self.count * self.known - self.vv)) / self.count
        left = a**2 * own + (1 - a) ** 2 * other
        mean = np.einsum("iab,iba->i", self.inner, value)
        seen = mean > 0  # nothing is relative to 0
        square = float((left[seen] / mean[seen] ** 2).mean()) if seen.any() else 0.0
        return Estimate(value, float(np.sqrt(square / (self.count - 2))))
