"""Conjugate gradients with the paper's mixed preconditioner."""

from __future__ import annotations

from dataclasses import dataclass

from uids.backends import Array
from uids.errors import require
from uids.solvers.conjugate import conjugate_gradients
from uids.solvers.operator import Operator, Precondition
from uids.solvers.solution import Solution
from uids.solvers.stopping import check_stopping


@dataclass(frozen=True)
class PCG:
    """M = α diag(A) + (1 − α) I, where A = scale · H has a ridge of 1.

    α = 1 is Jacobi, α = 0 plain CG. The diagonal is that of the Hessian, with p (1 − p): the
    paper's has (ŷ − y), which can be negative and then is no preconditioner at all. It helps where
    features differ widely in frequency (click logs) and hurts where they do not (images).
    """

    alpha: float = 0.5
    tol: float = 1e-10
    max_iter: int = 5000
    on_failure: str = "error"

    def __post_init__(self) -> None:
        require(0 <= self.alpha <= 1, "alpha", "in [0, 1]", self.alpha)
        check_stopping(self.tol, self.max_iter, self.on_failure)

    def solve(self, operator: Operator, g: Array) -> Solution:
        return conjugate_gradients(
            operator,
            g,
            tol=self.tol,
            max_iter=self.max_iter,
            precondition=mixed(operator, self.alpha),
            name="pcg",
        )


def mixed(operator: Operator, alpha: float) -> Precondition:
    """r ↦ M⁻¹ r."""
    M = operator.diagonal()
    M *= alpha * operator.scale
    M += 1 - alpha
    inverse = 1 / M[:, None]
    return lambda r: inverse * r
