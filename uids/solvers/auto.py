"""The solver that fits the problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uids.backends import Array
from uids.solvers import Operator, Solution, check_stopping, residual
from uids.solvers.conjugate import Precondition, conjugate_gradients, unfinished
from uids.solvers.direct import Direct, bytes_needed
from uids.solvers.pcg import mixed
from uids.system.memory import memory

DIRECT_LIMIT = 1000  # parameters: factorising is then quicker than a hundred products
DENSE_PRODUCTS = 100  # cost of the dense form, in products with H, beyond which CG is quicker
ATTEMPTS = 5  # in the space of the rows, until the residual of s itself is small enough,
ROWS_ITERATIONS = 500  # and iterations there, in all
PILOT = 10  # iterations of each rival; the loser's are not counted


@dataclass(frozen=True)
class Auto:
    """Plans from the shape, the memory of the machine and what the model says of the cost of its
    dense form and its diagonal (``dense_cost``, ``diagonal_cost``, in products with H), and then
    from the data.

    Where the model has a smaller equation for the same s (``dual()``, in the space of the rows, or
    None), it tries that first. Where it knows a preconditioner of its own (``preconditioner()``:
    r ↦ M⁻¹ r, or None), it uses that. Else, up to some thousand parameters, and within half the
    memory, it factorises. Beyond that it lets plain CG and mixed PCG run a few iterations and goes
    on with the one that is ahead: a diagonal preconditioner helps on long-tailed sparse data and
    hurts on images, and no look at the shape can tell the two apart. What it chose and why stands
    in the solution's note.
    """

    tol: float = 1e-10
    max_iter: int = 5000
    on_failure: str = "error"

    def __post_init__(self) -> None:
        check_stopping(self.tol, self.max_iter, self.on_failure)

    def solve(self, operator: Operator, g: Array) -> Solution:
        dual = operator.dual() if hasattr(operator, "dual") and g.ndim == 1 else None
        if dual is None:
            return self._planned(operator, g)
        first = self._in_rows(operator, dual, g)
        if first.converged or first.iterations >= self.max_iter:
            return first
        left = replace(self, max_iter=self.max_iter - first.iterations)
        found = left._planned(operator, g)
        note = f"{found.note}; before that {first.note}, in vain"
        return replace(found, iterations=found.iterations + first.iterations, note=note)

    def _planned(self, operator: Operator, g: Array) -> Solution:
        size = f"{operator.size:,} parameters"
        own = operator.preconditioner() if hasattr(operator, "preconditioner") else None
        if own is not None:
            found = conjugate_gradients(
                operator, g, tol=self.tol, max_iter=self.max_iter, precondition=own, name="auto"
            )
            note = f"pcg with the model's own preconditioner: {size}"
            return replace(found, note=note)
        needed = bytes_needed(operator.size)
        dense, diagonal = (getattr(operator, f"{of}_cost", 1.0) for of in ("dense", "diagonal"))
        cheap = dense <= DENSE_PRODUCTS
        if operator.size <= DIRECT_LIMIT and cheap and needed <= memory() / 2:
            note = f"direct: {size} take {needed / 2**20:,.1f} MiB to factorise"
            return replace(Direct().solve(operator, g), note=note)
        rivals: dict[str, Precondition | None] = {"cg": None}
        pilot = min(PILOT, self.max_iter)
        if diagonal <= pilot:
            rivals["pcg"] = mixed(operator, 0.5)
        pilots = {
            name: conjugate_gradients(
                operator, g, tol=self.tol, max_iter=pilot, precondition=precondition
            )
            for name, precondition in rivals.items()
        }
        best = min(pilots, key=lambda name: pilots[name].relative_residual)
        ahead = ", ".join(f"{name} {p.relative_residual:.1e}" for name, p in pilots.items())
        note = f"{best}: {size}; residual after {pilot} iterations: {ahead}"
        if pilots[best].converged:
            return replace(pilots[best], note=note)
        found = conjugate_gradients(
            operator,
            g,
            tol=self.tol,
            max_iter=max(1, self.max_iter - pilot),
            precondition=rivals[best],
            start=pilots[best].value,
            name=best,
        )
        return replace(found, iterations=found.iterations + pilot, note=note)

    def _in_rows(self, operator: Operator, dual: Any, g: Array) -> Solution:
        """The dual only estimates the residual of s: where it was too hopeful it goes on. It is not
        for columns of very different size, and gives up."""
        size, goal, iterations, y = float(np.linalg.norm(g)), self.tol, 0, None
        most = min(self.max_iter, ROWS_ITERATIONS)
        for _ in range(ATTEMPTS):
            s, y, scores, products = dual.solve(g, goal * size, most - iterations, y)
            iterations += products
            _, relative, scores = residual(operator, s, g, scores)
            if relative <= self.tol or iterations >= most:
                break
            goal *= self.tol / (2 * relative)
        status = "converged"
        if not relative <= self.tol:
            status = unfinished("auto", self.tol, relative, iterations, self.max_iter)
        note = f"cg in the space of the {operator.rows:,} rows: {operator.size:,} parameters"
        return Solution(s, status, iterations, relative, note, (s, scores))
