"""Conjugate gradients with a randomised Nyström preconditioner (Frangella, Tropp, Udell 2023)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular, svd

from uids.backends import Array
from uids.errors import UidsError, require
from uids.solvers.conjugate import conjugate_gradients
from uids.solvers.direct import NOT_POSITIVE_DEFINITE
from uids.solvers.operator import Operator, Precondition
from uids.solvers.solution import Solution
from uids.solvers.stopping import check_stopping


@dataclass(frozen=True)
class Nystrom:
    """H − μI ≈ U Λ Uᵀ of rank ℓ from one product with ℓ random vectors, μ = 1/scale the ridge.

    P⁻¹ = (λ_ℓ + μ) U (Λ + μ)⁻¹ Uᵀ + (I − U Uᵀ). It takes the largest ℓ eigenvalues out of the way,
    at a cost of ℓ products and 2 ℓ vectors; good where the spectrum falls fast (images, text).
    """

    rank: int = 50
    tol: float = 1e-10
    max_iter: int = 5000
    seed: int = 0
    on_failure: str = "error"

    def __post_init__(self) -> None:
        require(self.rank >= 1, "rank", "1 or more", self.rank)
        require(self.seed >= 0, "seed", "0 or more", self.seed)
        check_stopping(self.tol, self.max_iter, self.on_failure)

    def solve(self, operator: Operator, g: Array) -> Solution:
        return conjugate_gradients(
            operator,
            g,
            tol=self.tol,
            max_iter=self.max_iter,
            precondition=preconditioner(operator, min(self.rank, operator.size), self.seed),
            name="nystrom",
        )


def preconditioner(operator: Operator, rank: int, seed: int) -> Precondition:
    rng = np.random.default_rng(seed)
    omega, _ = qr(rng.standard_normal((operator.size, rank)), mode="economic")
    ridge = 1 / operator.scale
    Y = operator.dot(omega)
    if not np.isfinite(Y).all():
        raise UidsError("the Hessian product is not finite: look for huge values in X")
    # The ridge does not lie on an intercept, so that H − μI can be slightly indefinite there. A
    # shift mends that, and rounding; it is taken off again below.
    shift = np.finfo(float).eps * np.linalg.norm(Y) + ridge
    Y += (shift - ridge) * omega
    try:
        corner = cholesky(omega.T @ Y)
    except LinAlgError as error:
        raise UidsError(NOT_POSITIVE_DEFINITE) from error
    B = solve_triangular(corner, Y.T, trans="T").T
    U, sigma, _ = svd(B, full_matrices=False)
    eigenvalues = np.maximum(0, sigma**2 - shift)
    factor = (eigenvalues[-1] + ridge) / (eigenvalues + ridge) - 1

    def apply(r: Array) -> Array:
        return np.asarray(r + U @ (factor[:, None] * (U.T @ r)))

    return apply
