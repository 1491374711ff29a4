"""The door of the solvers: a solver of anyone's, and an operator of anyone's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uids.backends import Array, handed, read_only
from uids.errors import Blame, ComponentError, UidsError
from uids.registry import REGISTRIES, Chosen, ask
from uids.solvers.guard import checked
from uids.solvers.operator import Advice, Dual, Operator, Precondition, RowSolution
from uids.solvers.solution import Solution
from uids.solvers.stopping import ON_FAILURE

# Relative difference between the two forms of an H: automatic differentiation in float32 is within.
ALIKE = 1e-3


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
        blame = self.chosen.blame
        with blame:
            solution = self.chosen.component.solve(operator, g if blame.trusted else read_only(g))
        if not isinstance(solution, Solution):
            kind = type(solution).__name__
            raise UidsError(f"{blame.who} gave a {kind} where a uids.plugin.Solution is needed")
        if not blame.trusted:
            solution = checked(solution, operator, g, blame)
        on_failure = getattr(self.chosen.component, "on_failure", "error")
        if on_failure not in ON_FAILURE:
            raise UidsError(f"solver.on_failure must be 'error' or 'warn', not {on_failure!r}")
        if not solution.converged and on_failure == "error":
            said = solution.status if blame.trusted else f"{blame.who} says {solution.status!r}"
            raise UidsError(f"{said} (solver.on_failure=warn goes on all the same)")
        return solution


def adopt_solver(solver: Any) -> AdoptedSolver:
    """From Python: a name, or an object of the kind."""
    return AdoptedSolver(REGISTRIES["solver"].choose(solver))


class AdoptedOperator(Operator):
    """Any object with the seven required members of ``Operator``. What it has beyond them is used
    too; what it raises is blamed on whoever made it."""

    def __init__(self, value: Any, blame: Blame) -> None:
        self.value, self.blame = value, blame
        self.looked = False  # at the numbers of a product: at those of the first alone

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
        self._refuse_foreign(V)
        with self.blame:
            product = self.value.dot(V)
        return self._product(product, V)

    def diagonal(self) -> Array:
        with self.blame:
            diagonal = self.value.diagonal()
        return handed(diagonal, (self.size,), "the diagonal of H", self.blame)

    def dense(self) -> Array:
        with self.blame:
            dense = self.value.dense()
        H = handed(dense, (self.size, self.size), "H", self.blame, finite=False)
        return H if self.blame.trusted else self._same_as_products(H)

    def _same_as_products(self, H: Array) -> Array:
        """One product tells, before a solver is blamed for what it is left with."""
        v = np.random.default_rng(0).standard_normal(self.size)
        by_dot, by_dense = self.dot(v), H @ v
        size = float(np.abs(by_dense).max(initial=0.0))
        error = float(np.abs(by_dot - by_dense).max(initial=0.0))
        if np.isfinite(size) and not error <= ALIKE * size:
            raise ComponentError(
                f"{self.blame.who} gives two different H: dense() times a vector is up to "
                f"{error:.1e} away from dot() of it, of size {size:.1e}"
            )
        return H

    def dot_rows(self, V: Array, index: Array) -> Array:
        self._refuse_foreign(V)
        with self.blame:
            product = self.value.dot_rows(V, index)
        return self._product(product, V)

    def _refuse_foreign(self, V: Array) -> None:
        """What does not fit H is the fault of whoever asks for the product: outside the blame."""
        if np.ndim(V) not in (1, 2) or np.shape(V)[0] != self.size:
            raise ValueError(
                f"a product of H, ({self.size}, {self.size}), with an array of shape {np.shape(V)}"
            )

    def _product(self, product: Any, V: Array) -> Array:
        """What comes of numbers that are not finite need not be so either."""
        plain = type(product) is np.ndarray and product.dtype == np.float64
        if self.looked and plain and product.shape == V.shape:
            return product  # as ``handed`` would, which takes longer
        look = not (self.looked or self.blame.trusted) and bool(np.isfinite(V).all())
        self.looked = self.looked or look
        return handed(product, V.shape, "H V", self.blame, finite=look)

    @property
    def dense_cost(self) -> float:
        with self.blame:
            return float(getattr(self.value, "dense_cost", 1.0))

    @property
    def diagonal_cost(self) -> float:
        with self.blame:
            return float(getattr(self.value, "diagonal_cost", 1.0))

    def uses_blas(self, columns: int) -> bool:
        return bool(self._asked("uses_blas", super().uses_blas, columns))

    def scored_dot(self, s: Array, scores: Array | None = None) -> tuple[Array, Array | None]:
        if not isinstance(self.value, Operator):
            return super().scored_dot(s, scores)
        with self.blame:
            product, scores = self.value.scored_dot(s, scores)
        return self._product(product, s), scores

    def advice(self) -> Advice:
        if isinstance(self.value, Operator):
            with self.blame:
                return self.value.advice()
        has = [callable(getattr(self.value, name, None)) for name in ("dual", "preconditioner")]
        return Advice(has[0], "its own" if has[1] else "")

    def dual(self) -> Dual | None:
        dual: Dual | None = self._asked("dual", super().dual)
        return None if dual is None else AdoptedDual(dual, self.blame)

    def preconditioner(self) -> Precondition | None:
        apply: Precondition | None = self._asked("preconditioner", super().preconditioner)
        if apply is None:
            return None

        def applied(r: Array) -> Array:
            with self.blame:
                return apply(r)

        return applied


@dataclass(frozen=True)
class AdoptedDual:
    """The equation of an operator in the space of the rows, with the blame for it."""

    value: Dual
    blame: Blame

    def solve(self, g: Array, goal: float, limit: int, start: Array | None = None) -> RowSolution:
        with self.blame:
            return self.value.solve(g, goal, limit, start)


def operator_of(operator: Any) -> Operator:
    """An operator as it is; any other object with its required members adopted."""
    if isinstance(operator, Operator):
        return operator
    return AdoptedOperator(operator, Blame("the operator"))
