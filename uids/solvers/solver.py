"""What a solver is."""

from __future__ import annotations

from typing import Protocol

from uids.backends import Array
from uids.solvers.operator import Operator
from uids.solvers.solution import Solution


class Solver(Protocol):
    """Two more members are used where a solver has them: the field ``on_failure``, "error" or
    "warn", and ``plan(operator)``, a sentence on what it would do."""

    def solve(self, operator: Operator, g: Array) -> Solution:
        """s = H⁻¹ g, for one vector (size,) or several (size, m)."""
        ...
