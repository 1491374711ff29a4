"""The solver that fits the problem."""

from __future__ import annotations

from dataclasses import dataclass, replace

from uids.backends import Array
from uids.solvers import Operator, Solution, check_stopping, memory
from uids.solvers.conjugate import conjugate_gradients
from uids.solvers.direct import Direct, bytes_needed
from uids.solvers.pcg import mixed

DIRECT_LIMIT = 1000  # parameters: factorising is then quicker than a hundred products
PILOT = 10  # iterations of each rival


@dataclass(frozen=True)
class Auto:
    """Plans from the shape and the memory of the machine, and then from the data.

    Up to some thousand parameters, and within half the memory, it factorises. Beyond that it
    lets plain CG and mixed PCG run a few iterations and goes on with the one that is ahead: a
    diagonal preconditioner helps on long-tailed sparse data and hurts on images, and no look at
    the shape can tell the two apart. What it chose and why stands in the solution's note.
    """

    tol: float = 1e-10
    max_iter: int = 5000
    on_failure: str = "error"

    def __post_init__(self) -> None:
        check_stopping(self.tol, self.max_iter, self.on_failure)

    def solve(self, operator: Operator, g: Array) -> Solution:
        size = f"{operator.size:,} parameters"
        needed = bytes_needed(operator.size)
        if operator.size <= DIRECT_LIMIT and needed <= memory() / 2:
            note = f"direct: {size} take {needed / 2**20:,.1f} MiB to factorise"
            return replace(Direct().solve(operator, g), note=note)
        rivals = {"cg": None, "pcg": mixed(operator, 0.5)}
        pilots = {
            name: conjugate_gradients(
                operator, g, tol=self.tol, max_iter=PILOT, precondition=precondition
            )
            for name, precondition in rivals.items()
        }
        best = min(pilots, key=lambda name: pilots[name].relative_residual)
        ahead = ", ".join(f"{name} {p.relative_residual:.1e}" for name, p in pilots.items())
        note = f"{best}: {size}; residual after {PILOT} iterations: {ahead}"
        if pilots[best].converged:
            return replace(pilots[best], note=note)
        found = conjugate_gradients(
            operator,
            g,
            tol=self.tol,
            max_iter=self.max_iter,
            precondition=rivals[best],
            start=pilots[best].value,
            name=best,
        )
        return replace(found, iterations=found.iterations + 2 * PILOT, note=note)
