"""Cholesky factorisation of the dense Hessian: exact, for problems of up to some thousands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpotri

from uids.backends import Array
from uids.errors import UidsError
from uids.solvers.operator import Operator
from uids.solvers.residual import residual
from uids.solvers.solution import Solution
from uids.solvers.stopping import check_on_failure
from uids.system.memory import memory
from uids.system.threads import one_blas_thread

ONE_THREAD = 512  # parameters, up to which waking BLAS's threads takes longer than the work
ACCEPTED = 1e-6  # relative residual; an ordinary problem gives some 1e-15


def bytes_needed(size: int) -> int:
    """H, and what is held beside it while it is put together."""
    return 32 * size**2


@dataclass(frozen=True)
class Direct:
    """s = H⁻¹ g by H = L Lᵀ. Memory 32 · size² bytes, work size³ / 3 beside the Gram matrix."""

    on_failure: str = "error"

    def __post_init__(self) -> None:
        check_on_failure(self.on_failure)

    def solve(self, operator: Operator, g: Array) -> Solution:
        needed, machine = bytes_needed(operator.size), memory()
        if needed > machine:
            raise UidsError(
                f"solver 'direct' would need {needed / 2**30:,.1f} GiB for {operator.size:,} "
                f"parameters, and this machine has {machine / 2**30:,.1f} GiB: use solver=pcg"
            )
        with one_blas_thread(operator.size <= ONE_THREAD):
            s = cho_solve((factor(operator), True), g, check_finite=False)
            _, relative, scores = residual(operator, s, g)
        status = "converged"
        if not relative <= ACCEPTED:
            status = f"solver 'direct' {ill_conditioned(relative)}"
        return Solution(s, status, 0, relative, scored=(s, scores))


def factor(operator: Operator) -> Array:
    """L of H = L Lᵀ; what is above its diagonal has no meaning."""
    H = operator.dense()
    if not np.isfinite(H).all():
        raise UidsError("the Hessian is not finite: look for huge values in X")
    try:
        # The lower triangle of the transpose is the upper one of H, which is symmetric; in
        # Fortran order LAPACK factorises it in place.
        L, _ = cho_factor(H.T, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise UidsError(NOT_POSITIVE_DEFINITE) from error
    return np.asarray(L)


def inverse(operator: Operator) -> Array:
    """H⁻¹ itself, from the factor in its place; tried on one vector."""
    with one_blas_thread(operator.size <= ONE_THREAD):
        return _inverse(operator)


def _inverse(operator: Operator) -> Array:
    value, _ = dpotri(factor(operator), lower=1, overwrite_c=1)
    value = np.tril(value)
    value += np.tril(value, -1).T
    g = operator.dot(np.ones(operator.size))
    _, relative, _ = residual(operator, value @ g, g)
    if not relative <= ACCEPTED:
        raise UidsError(f"the inverse of H {ill_conditioned(relative)}")
    return np.asarray(value)


def ill_conditioned(relative: float) -> str:
    return (
        f"is left with a relative residual of {relative:.1e}: H is too "
        "ill-conditioned for its arithmetic; lower model.C or scale the features"
    )


NOT_POSITIVE_DEFINITE = (
    "the Hessian is not positive definite: lower model.C, drop features that repeat each other, "
    "or (for a network) raise model.damping or use model.curvature=gauss_newton"
)
