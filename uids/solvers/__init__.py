"""Solving H s = g from an operator alone, and saying how far the answer can be trusted.

A solver is a component with ``solve(operator, g)``; g is one vector (size,) or several (size, m),
solved together. Knows nothing of models: only ``Operator``.
"""

from uids.solvers.adopted import AdoptedSolver
from uids.solvers.operator import Advice, Dual, Operator, Precondition, RowSolution
from uids.solvers.residual import norms, residual
from uids.solvers.solution import Solution
from uids.solvers.solver import Solver

__all__ = [
    "AdoptedSolver",
    "Advice",
    "Dual",
    "Operator",
    "Precondition",
    "RowSolution",
    "Solution",
    "Solver",
    "norms",
    "residual",
]
