"""The solver that fits the problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from uids.backends import Array
from uids.solvers.adopted import operator_of
from uids.solvers.conjugate import conjugate_gradients, unfinished
from uids.solvers.direct import Direct, bytes_needed
from uids.solvers.operator import Dual, Operator, Precondition
from uids.solvers.pcg import mixed
from uids.solvers.residual import norms, residual
from uids.solvers.solution import Solution
from uids.solvers.stopping import check_stopping
from uids.system.memory import memory
from uids.system.threads import one_blas_thread
from uids.system.tuning import SOLVER_CHOICE, SolverChoice

FEW = 16  # columns, each solved by itself where the space of the rows is the quicker way
ROW_SPACE, PRECONDITIONED, DIRECT, RACE = "row space", "preconditioned", "direct", "race"


@dataclass(frozen=True)
class Plan:
    """Which way will be tried first, and the sentence that says so."""

    way: str
    note: str


def planned(
    operator: Operator,
    columns: int = 1,
    tuning: SolverChoice = SOLVER_CHOICE,
    without: tuple[str, ...] = (),
) -> Plan:
    """From the shape, the memory of the machine and the model's advice; no product is made.

    ``without`` are ways that were tried in vain.
    """
    advice, size = operator.advice(), f"{operator.size:,} parameters"
    if advice.row_space and columns == 1 and ROW_SPACE not in without:
        return Plan(ROW_SPACE, f"cg in the space of the {operator.rows:,} rows: {size}")
    if advice.preconditioner and PRECONDITIONED not in without:
        own = f"pcg with the model's own preconditioner: {size}"
        return Plan(PRECONDITIONED, f"{own}; {advice.preconditioner}")
    needed = bytes_needed(operator.size)
    cheap = operator.dense_cost <= tuning.direct_products
    if operator.size <= tuning.direct_size and cheap and needed <= memory() / 2:
        return Plan(DIRECT, f"direct: {size} take {needed / 2**20:,.1f} MiB to factorise")
    return Plan(RACE, f"cg or pcg, whichever is ahead after {tuning.pilot} iterations: {size}")


@dataclass(frozen=True)
class Auto:
    """Plans from the shape, the memory of the machine and what the model says of itself, and then
    from the data.

    Where the model has a smaller equation for the same s, in the space of the rows, it tries that
    first. Where it knows a preconditioner of its own, it uses that. Else, up to a thousand
    parameters, and within half the memory, it factorises. Beyond that it lets plain CG and mixed
    PCG run a few iterations and goes on with the one that is ahead: a diagonal preconditioner
    helps on long-tailed sparse data and hurts on images, and no look at the shape can tell the two
    apart. What it chose and why stands in the solution's note.
    """

    tol: float = 1e-10
    max_iter: int = 5000
    on_failure: str = "error"

    def __post_init__(self) -> None:
        check_stopping(self.tol, self.max_iter, self.on_failure)

    def plan(self, operator: Operator) -> str:
        """What would be tried first for one vector, and why."""
        return planned(operator_of(operator)).note

    def solve(self, operator: Operator, g: Array, tuning: SolverChoice = SOLVER_CHOICE) -> Solution:
        operator = operator_of(operator)
        if g.ndim == 2 and g.shape[1] <= FEW and operator.advice().row_space:
            return together([self.solve(operator, column, tuning) for column in g.T])
        columns = 1 if g.ndim == 1 else g.shape[1]
        without: tuple[str, ...] = () if g.ndim == 1 else (ROW_SPACE,)
        chosen = planned(operator, columns, tuning, without)
        tried: Solution | None = None
        if chosen.way == ROW_SPACE:
            with one_blas_thread(not operator.uses_blas(1)):
                dual = operator.dual()
                tried = self._in_row_space(operator, dual, g, tuning, chosen) if dual else None
            if tried is not None and (tried.converged or tried.iterations >= self.max_iter):
                return tried
            without = (*without, ROW_SPACE)
            chosen = planned(operator, columns, tuning, without)
        spent = tried.iterations if tried else 0
        solution = replace(self, max_iter=self.max_iter - spent)._in_columns(
            operator, g, tuning, chosen, without
        )
        if tried is None:
            return solution
        note = f"{solution.note}; before that {tried.note}, in vain"
        return replace(solution, iterations=solution.iterations + spent, note=note)

    def _in_columns(
        self,
        operator: Operator,
        g: Array,
        tuning: SolverChoice,
        chosen: Plan,
        without: tuple[str, ...],
    ) -> Solution:
        if chosen.way == PRECONDITIONED:
            precondition = operator.preconditioner()
            if precondition is not None:
                solution = conjugate_gradients(
                    operator,
                    g,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    precondition=precondition,
                    name="auto",
                )
                return replace(solution, note=chosen.note)
            chosen = planned(operator, 1, tuning, (*without, ROW_SPACE, PRECONDITIONED))
        if chosen.way == DIRECT:
            return replace(Direct().solve(operator, g), note=chosen.note)
        return self._race(operator, g, tuning)

    def _race(self, operator: Operator, g: Array, tuning: SolverChoice) -> Solution:
        """A few iterations of each; the loser's are not counted."""
        rivals: dict[str, Precondition | None] = {"cg": None}
        pilot = min(tuning.pilot, self.max_iter)
        if operator.diagonal_cost <= pilot:
            rivals["pcg"] = mixed(operator, 0.5)
        pilots = {
            name: conjugate_gradients(
                operator, g, tol=self.tol, max_iter=pilot, precondition=precondition
            )
            for name, precondition in rivals.items()
        }
        best = min(pilots, key=lambda name: pilots[name].relative_residual)
        ahead = ", ".join(f"{name} {p.relative_residual:.1e}" for name, p in pilots.items())
        size = f"{operator.size:,} parameters"
        note = f"{best}: {size}; residual after {pilot} iterations: {ahead}"
        if pilots[best].converged:
            return replace(pilots[best], note=note)
        solution = conjugate_gradients(
            operator,
            g,
            tol=self.tol,
            max_iter=max(1, self.max_iter - pilot),
            precondition=rivals[best],
            start=pilots[best].value,
            name=best,
        )
        return replace(solution, iterations=solution.iterations + pilot, note=note)

    def _in_row_space(
        self, operator: Operator, dual: Dual, g: Array, tuning: SolverChoice, chosen: Plan
    ) -> Solution:
        """The dual only estimates the residual of s: where it was too hopeful it goes on. It is not
        for columns of very different size, and gives up."""
        size, goal, iterations, y = float(norms(g)), self.tol, 0, None
        most = min(self.max_iter, tuning.row_iterations)
        for _ in range(tuning.row_attempts):
            s, y, scores, products = dual.solve(g, goal * size, most - iterations, y)
            iterations += products
            _, relative, known = residual(operator, s, g, scores)
            if relative <= self.tol or iterations >= most:
                break
            goal *= self.tol / (2 * relative)
        status = "converged"
        if not relative <= self.tol:
            status = unfinished("auto", self.tol, relative, iterations, self.max_iter)
        return Solution(s, status, iterations, relative, chosen.note, (s, known))


def together(solutions: Sequence[Solution]) -> Solution:
    """Columns that were solved one by one; as good as the worst of them."""
    worst = max(solutions, key=lambda each: each.relative_residual)
    value = np.stack([each.value for each in solutions], axis=1)
    iterations = sum(each.iterations for each in solutions)
    return replace(worst, value=value, iterations=iterations, scored=None)
