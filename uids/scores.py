"""Influence: what each training row does to the validation loss, from one solve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from uids.backends import Array
from uids.errors import UidsError
from uids.models import Curvature, Fitted, Rows
from uids.solvers import Solution

EXACT_LIMIT = 512  # parameters up to which ‖ψ‖ is exact
PROBES = 256  # random vectors beyond that: a relative error of about √(1/512) = 4 %
PROBE_BLOCK = 32  # solved at once: bounds memory at that many vectors of n and of size


@dataclass(frozen=True)
class Scores:
    """What a sampler may look at, one number for each training row.

    ``phi`` φ_i > 0 means that row i harms: dropping it changes the mean validation loss by about
    −φ_i / (n m). ``loss`` l_i(θ̂). ``y`` the class, 0..K−1. ``psi_norm`` ‖H⁻¹ ∇l_i‖, computed
    when first asked for.
    """

    phi: Array
    loss: Array
    y: npt.NDArray[np.int64]
    compute_psi_norm: Callable[[], Array]

    @cached_property
    def psi_norm(self) -> Array:
        return self.compute_psi_norm()


@dataclass(frozen=True)
class Influence:
    """φ, the solve behind it, and |Σφ − ∇penaltyᵀ s| / Σ|φ|.

    At a stationary θ̂ the row gradients sum to minus the gradient of the penalty, whatever s is:
    the error tests the fit, as the relative residual tests the solve.
    """

    phi: Array
    solution: Solution
    identity_error: float


def influence(curvature: Curvature, train: Rows, validation: Rows, solver: Any) -> Influence:
    """φ_i = −sᵀ ∇l_i(θ̂) with s = H⁻¹ Σ_j ∇l_j(θ̂) over the validation rows."""
    g = curvature.gradient(validation)
    if not np.isfinite(g).all():
        raise UidsError("the validation gradient is not finite: look for huge values in X")
    solution = solver.solve(curvature, g)
    phi = -curvature.row_products(train, solution.value)
    size = float(np.abs(phi).sum())
    error = abs(float(phi.sum()) - curvature.penalty_product(solution.value))
    return Influence(phi, solution, error / size if size > 0 else 0.0)


def scores(
    fitted: Fitted, curvature: Curvature, train: Rows, phi: Array, solver: Any, seed: int
) -> Scores:
    return Scores(
        phi=phi,
        loss=fitted.losses(train),
        y=train.y,
        compute_psi_norm=lambda: psi_norm(curvature, train, solver, seed),
    )


def psi_norm(curvature: Curvature, train: Rows, solver: Any, seed: int = 0) -> Array:
    """‖H⁻¹ ∇l_i‖ for each row i: √Σ_l (z_lᵀ H⁻¹ ∇l_i)².

    With the unit vectors for z this is exact; with k Gaussian vectors of variance 1/k it is the
    Johnson–Lindenstrauss estimate. Either way no array of n × d comes into being.
    """
    size = curvature.size
    exact = size <= EXACT_LIMIT
    rng = np.random.default_rng([seed, 3])
    total = np.zeros(len(train))
    count = size if exact else PROBES
    for first in range(0, count, PROBE_BLOCK):
        width = min(PROBE_BLOCK, count - first)
        if exact:
            Z = np.zeros((size, width))
            Z[np.arange(first, first + width), np.arange(width)] = 1
        else:
            Z = rng.standard_normal((size, width)) / np.sqrt(PROBES)
        products = curvature.row_products(train, solver.solve(curvature, Z).value)
        total += np.einsum("il,il->i", products, products)
    return np.sqrt(total)
