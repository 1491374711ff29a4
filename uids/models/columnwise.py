"""Conjugate gradients for X that is stored by columns: an iteration is one loop over them.

The textbook has two products with X and half a dozen passes over vectors as long as the columns.
Here all that is done for a column while its entries are in the cache. It takes that the step is
known beforehand, from pᵀHp = Σ w_i (x_iᵀp)² + μ‖p‖², and that the scores X p are kept up to date
beside p, from X z, which the loop adds up as it goes.
"""

from __future__ import annotations

import numpy as np

from uids.backends import Array
from uids.backends.columns import Columns
from uids.backends.threads import readonly
from uids.compiled import compiled
from uids.errors import UidsError
from uids.models.logistic import LogisticCurvature
from uids.models.preconditioner import Preconditioner
from uids.parallel import on_threads
from uids.solvers.conjugate import NOT_FINITE

ONE = np.uint64(1)


class Columnwise:
    """A diagonal preconditioner M that knows a quicker recursion than ``conjugate.descend``, for
    its own ``operator``."""

    def __init__(
        self, curvature: LogisticCurvature, M: Preconditioner, columns: Columns, w: Array
    ) -> None:
        self.operator, self.M, self.columns, self.w = curvature, M, columns, w
        self.intercept, self.ridge = curvature.at.intercept, 1 / curvature.scale

    def __call__(self, R: Array) -> Array:
        return self.M(R)

    def descend(self, s: Array, r: Array, target: float, limit: int) -> tuple[int, bool]:
        """In place on s and r = g − H s, until ‖r‖ ≤ target or ``limit`` products, as in
        ``conjugate.descend``. The intercept, if there is one, is a column of ones without a ridge.
        """
        X, (n, d), b = self.columns, self.columns.shape, self.intercept
        order = X.names
        inverse, rest = self.M.inverse[order], r[order]
        change, p = np.zeros(d), np.zeros(d)
        scores, u = np.zeros(n), np.zeros(n)
        parts, sums = np.empty((X.threads, n)), np.empty((X.threads, 4))
        gain, direction, last = 0.0, 0.0, float(r[-1]) if b else 0.0  # of the intercept
        scale = float(self.M.inverse[-1]) if b else 0.0
        rho, square, products, well = 0.0, 0.0, 0, False

        def begin(t: int) -> None:
            column_scores(*X.entries, X.starts, *X.range(t), inverse, rest, parts[t], sums[t])

        def advance(t: int) -> None:
            arrays = inverse, rest, change, p, parts[t], sums[t]
            place = *X.entries, X.starts, *X.range(t), readonly(u)
            column_step(*place, self.ridge, step, beta, *arrays)

        on_threads(begin, X.threads)
        while True:
            before = rho
            rho, size, own, cross = sums.sum(axis=0)
            rho += last * scale * last
            if np.sqrt(size + last * last) <= target:
                well = True
                break
            if products == limit:
                break
            beta = rho / before if products else 0.0
            square = own + beta * (2 * cross + beta * square)  # ‖p‖², without the intercept
            direction = scale * last + beta * direction
            bend, total = scored(parts, scale * last, beta, self.w, scores, u)
            bend += self.ridge * square
            if not np.isfinite(bend):
                raise UidsError(NOT_FINITE)
            products += 1
            if bend <= 0:
                break
            step = rho / bend
            gain += step * direction
            last -= step * total if b else 0.0
            on_threads(advance, X.threads)
        s[order] += change
        r[order] = rest
        if b:
            s[-1] += gain
            r[-1] = last
        return products, well


@compiled()
def column_scores(data, rows, starts, first, last, inverse, r, out, sums):  # type: ignore[no-untyped-def]
    """out = X z over some columns, z = M⁻¹ r, and in ``sums`` rᵀz, rᵀr, zᵀz and 0."""
    rho = square = own = 0.0
    out[:] = 0.0
    for c in range(first, last):
        z = inverse[c] * r[c]
        rho += r[c] * z
        square += r[c] * r[c]
        own += z * z
        for j in range(np.uint64(starts[c]), np.uint64(starts[c + ONE])):
            out[rows[j]] += z if data is None else z * data[j]
    sums[0], sums[1], sums[2], sums[3] = rho, square, own, 0.0


@compiled()
def column_step(  # type: ignore[no-untyped-def]
    data, rows, starts, first, last, u, ridge, step, beta, inverse, r, s, p, out, sums
):
    """p = z + β p, s += step · p and r −= step · H p, where H p = Xᵀu + ridge · p; then out = X z
    for the new z = M⁻¹ r, and in ``sums`` rᵀz, rᵀr, zᵀz and zᵀp; for some columns."""
    rho = square = own = cross = 0.0
    out[:] = 0.0
    for c in range(first, last):
        begin, end = np.uint64(starts[c]), np.uint64(starts[c + ONE])
        q = 0.0
        for j in range(begin, end):
            q += u[rows[j]] if data is None else data[j] * u[rows[j]]
        now = inverse[c] * r[c] + beta * p[c]
        p[c] = now
        s[c] += step * now
        left = r[c] - step * (q + ridge * now)
        r[c] = left
        z = inverse[c] * left
        rho += left * z
        square += left * left
        own += z * z
        cross += z * now
        for j in range(begin, end):
            out[rows[j]] += z if data is None else z * data[j]
    sums[0], sums[1], sums[2], sums[3] = rho, square, own, cross


@compiled()
def scored(parts, shift, beta, w, scores, u):  # type: ignore[no-untyped-def]
    """scores = Σ_t parts_t + shift + β · scores, u = w ∘ scores; uᵀ scores and the sum of u."""
    bend = total = 0.0
    for i in range(np.uint64(scores.size)):
        z = shift + beta * scores[i]
        for t in range(parts.shape[0]):
            z += parts[t, i]
        scores[i] = z
        u[i] = w[i] * z
        bend += u[i] * z
        total += u[i]
    return bend, total
