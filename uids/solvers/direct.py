"""Cholesky factorisation of the dense Hessian: exact, for problems of up to some thousands."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from uids.backends import Array
from uids.errors import UidsError
from uids.solvers import Operator, Solution, relative_residual


@dataclass(frozen=True)
class Direct:
    """s = H⁻¹ g by H = L Lᵀ. Memory 2 · 8 · size² bytes, work size³ / 3."""

    def solve(self, operator: Operator, g: Array) -> Solution:
        needed, machine = 16 * operator.size**2, memory()
        if needed > machine:
            raise UidsError(
                f"solver 'direct' would need {needed / 2**30:,.1f} GiB for {operator.size:,} "
                f"parameters, and this machine has {machine / 2**30:,.1f} GiB: "
                "use an iterative solver or fewer features"
            )
        H = operator.dense()
        if not np.isfinite(H).all():
            raise UidsError("the Hessian is not finite: look for huge values in X")
        try:
            # The lower triangle of the transpose is the upper one of H, which is symmetric; in
            # Fortran order LAPACK factorises it in place.
            factor = cho_factor(H.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as error:
            raise UidsError(
                "the Hessian is not positive definite: lower model.C, or drop features that "
                "repeat each other"
            ) from error
        s = cho_solve(factor, g, check_finite=False)
        return Solution(s, "converged", 0, relative_residual(operator, s, g))


def memory() -> int:
    """Bytes of main memory; without limit where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**63
