"""The door of the solvers: a solver of anyone's, and an operator of anyone's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uids.backends import Array
from uids.errors import Blame, UidsError
from uids.registry import REGISTRIES, Chosen, ask
from uids.solvers.operator import Advice, Dual, Operator, Precondition
from uids.solvers.solution import Solution


@dataclass(frozen=True)
class AdoptedSolver:
    """A chosen solver."""

    chosen: Chosen

    @property
    def name(self) -> str:
        return self.chosen.name

    def plan(self, operator: Operator) -> str:
        """What would be tried, where the solver has a choice; no product is made."""
        component, blame = self.chosen.component, self.chosen.blame
        return str(ask(component, "plan", blame, lambda _: self.name, operator))

    def solve(self, operator: Operator, g: Array) -> Solution:
        """H s = g; what did not converge is an error unless the solver was told to go on."""
        # Not by BLAS, whose threads would go on for a while: see ``one_blas_thread``.
        if not np.isfinite(np.einsum("i,i->", g.ravel(), g.ravel())):
            raise UidsError("the gradient is not finite: look for huge values in X")
        with self.chosen.blame:
            solution = self.chosen.component.solve(operator, g)
        if not isinstance(solution, Solution):
            kind = type(solution).__name__
            raise UidsError(
                f"{self.chosen.blame.who} gave a {kind} where a uids.solvers.Solution is needed"
            )
        on_failure = getattr(self.chosen.component, "on_failure", "error")
        if not solution.converged and on_failure == "error":
            raise UidsError(f"{solution.status} (solver.on_failure=warn goes on all the same)")
        return solution


def adopt_solver(solver: Any) -> AdoptedSolver:
    """From Python: a name, or an object of the kind."""
    return AdoptedSolver(REGISTRIES["solver"].choose(solver))


class AdoptedOperator(Operator):
    """Any object with the seven required members of ``Operator``. What it has beyond them is used
    too; what it raises is blamed on whoever made it."""

    def __init__(self, value: Any, blame: Blame) -> None:
        self.value, self.blame = value, blame

    def _asked(self, name: str, default: Callable[..., Any], *arguments: Any) -> Any:
        return ask(self.value, name, self.blame, default, *arguments)

    @property
    def size(self) -> int:
        with self.blame:
            return int(self.value.size)

    @property
    def rows(self) -> int:
        with self.blame:
            return int(self.value.rows)

    @property
    def scale(self) -> float:
        with self.blame:
            return float(self.value.scale)

    def dot(self, V: Array) -> Array:
        with self.blame:
            return np.asarray(self.value.dot(V))

    def diagonal(self) -> Array:
        with self.blame:
            return np.asarray(self.value.diagonal())

    def dense(self) -> Array:
        with self.blame:
            return np.asarray(self.value.dense())

    def dot_rows(self, V: Array, index: Array) -> Array:
        with self.blame:
            return np.asarray(self.value.dot_rows(V, index))

    @property
    def dense_cost(self) -> float:
        return float(getattr(self.value, "dense_cost", 1.0))

    @property
    def diagonal_cost(self) -> float:
        return float(getattr(self.value, "diagonal_cost", 1.0))

    def uses_blas(self, columns: int) -> bool:
        return bool(self._asked("uses_blas", super().uses_blas, columns))

    def scored_dot(self, s: Array, scores: Array | None = None) -> tuple[Array, Array | None]:
        if not isinstance(self.value, Operator):
            return super().scored_dot(s, scores)
        with self.blame:
            return self.value.scored_dot(s, scores)

    def advice(self) -> Advice:
        if isinstance(self.value, Operator):
            return self.value.advice()
        has = [callable(getattr(self.value, name, None)) for name in ("dual", "preconditioner")]
        return Advice(has[0], "its own" if has[1] else "")

    def dual(self) -> Dual | None:
        dual: Dual | None = self._asked("dual", super().dual)
        return dual

    def preconditioner(self) -> Precondition | None:
        apply: Precondition | None = self._asked("preconditioner", super().preconditioner)
        return apply


def operator_of(operator: Any) -> Operator:
    """An operator as it is; any other object with its required members adopted."""
    if isinstance(operator, Operator):
        return operator
    return AdoptedOperator(operator, Blame("the operator"))
