"""Conjugate gradients: only products with H."""

from __future__ import annotations

from dataclasses import dataclass

from uids.backends import Array
from uids.solvers.conjugate import conjugate_gradients
from uids.solvers.operator import Operator
from uids.solvers.solution import Solution
from uids.solvers.stopping import check_stopping


@dataclass(frozen=True)
class CG:
    """Stops at ‖g − H s‖ ≤ tol ‖g‖, a rule that does not depend on the number of features."""

    tol: float = 1e-10
    max_iter: int = 5000
    on_failure: str = "error"

    def __post_init__(self) -> None:
        check_stopping(self.tol, self.max_iter, self.on_failure)

    def solve(self, operator: Operator, g: Array) -> Solution:
        return conjugate_gradients(operator, g, tol=self.tol, max_iter=self.max_iter)
