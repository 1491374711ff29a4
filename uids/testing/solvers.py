"""What is checked of a solver: whether s solves H s = g, and whether it says so truly."""

from __future__ import annotations

import dataclasses
from numbers import Real
from unittest import SkipTest

import numpy as np

from uids.backends import Array
from uids.errors import UidsError
from uids.models.adopted import adopt_model
from uids.registry import Chosen
from uids.solvers import Operator, Solution, residual
from uids.testing.check import demand, same, same_shape
from uids.testing.problems import Made, rows_of

D = 24
ROUNDING = 1e-11  # of ‖g‖: residuals below it are alike
USABLE = 1e-2  # relative residual that any solver reaches on an easy problem


def problem(condition: float, smallest: float = 1e-2) -> tuple[Made, Array]:
    """H with eigenvalues from ``smallest`` up, and g."""
    operator = Made(smallest * np.geomspace(1, condition, D), ridge=smallest)
    return operator, np.random.default_rng(1).standard_normal(D)


def solved(chosen: Chosen, operator: Operator, g: Array) -> Solution:
    """As the solver itself says it, before its door has looked."""
    with chosen.blame:
        solution = chosen.component.solve(operator, g)
    kind = type(solution).__name__
    demand(isinstance(solution, Solution), f"solve() gave a {kind}, not a uids.plugin.Solution")
    status, told = solution.status, solution.relative_residual
    demand(isinstance(status, str), f"the status of a Solution is {status!r}, not a text")
    demand(isinstance(told, Real), f"the relative_residual of a Solution is {told!r}, not a number")
    same_shape(solution.value, g, "the s of a Solution")
    return solution


def demand_honest(solution: Solution, operator: Operator, g: Array, what: str) -> float:
    """The residual of a Solution is the true one; gives that."""
    told, true = solution.relative_residual, residual(operator, solution.value, g).relative
    told_true = abs(told - true) <= 0.1 * max(told, true) + ROUNDING
    demand(
        told_true or (not np.isfinite(true) and not solution.converged),
        f"{what}: it says that the relative residual is {told:.1e}, and it is {true:.1e}",
    )
    return true


def demand_solved(chosen: Chosen, operator: Operator, g: Array, what: str) -> Solution:
    solution = solved(chosen, operator, g)
    true = demand_honest(solution, operator, g, what)
    demand(solution.converged, f"{what}: it does not converge: {solution.status}")
    demand(true <= USABLE, f"{what}: it says converged with a relative residual of {true:.1e}")
    return solution


def one_vector(chosen: Chosen) -> None:
    """H s = g for one g, (size,), by the true residual."""
    operator, g = problem(condition=30)
    demand_solved(chosen, operator, g, "an easy H")


def several_vectors(chosen: Chosen) -> None:
    """H S = G for the columns of G, (size, m): of different lengths, one of them 0."""
    operator, _ = problem(condition=30)
    G = np.random.default_rng(2).standard_normal((D, 4)) * [1.0, 1e-3, 0.0, 1e3]
    demand_solved(chosen, operator, G[:, :1], "one column")
    S = demand_solved(chosen, operator, G, "several columns").value
    demand(not S[:, 2].any(), "several columns: that of g = 0 has an s that is not 0")


def small(chosen: Chosen) -> None:
    """One parameter, and a g that is 0."""
    one = Made(np.array([0.7]), ridge=0.1)
    demand_solved(chosen, one, np.array([2.0]), "one parameter")
    operator, g = problem(condition=30)
    solution = demand_solved(chosen, operator, 0 * g, "g = 0")
    demand(not solution.value.any(), "g = 0: s is not 0")


def ill_conditioned(chosen: Chosen) -> None:
    """Eigenvalues over ten orders: the true residual, or a sentence that it does not converge."""
    operator, g = problem(condition=1e10, smallest=1e-8)
    try:
        solution = solved(chosen, operator, g)
    except UidsError:
        return  # a sentence of its own
    true = demand_honest(solution, operator, g, "an ill-conditioned H")
    demand(
        not solution.converged or true <= USABLE,
        f"an ill-conditioned H: it says converged with a relative residual of {true:.1e}",
    )


def honesty(chosen: Chosen) -> None:
    """A singular H that has no s for its g: nobody can converge, and it does not say so."""
    eigenvalues = np.linspace(0, 1, D)
    operator = Made(eigenvalues, ridge=1e-12)
    g = np.random.default_rng(1).standard_normal(D)
    try:
        solution = solved(chosen, operator, g)
    except UidsError:
        return  # a sentence of its own
    true = demand_honest(solution, operator, g, "a singular H")
    demand(
        not solution.converged,
        f"a singular H, for which there is no s: it says converged, with a residual of {true:.1e}",
    )
    demand(len(solution.status.split()) > 2, f"its status is no sentence: {solution.status!r}")


def cut_short(chosen: Chosen) -> None:
    """With max_iter=1 it says that it did not converge, and how far it came."""
    if "max_iter" not in chosen.fields:
        raise SkipTest("it has no field max_iter")
    fields = {"max_iter": 1} | ({"on_failure": "warn"} if "on_failure" in chosen.fields else {})
    short = chosen.replaced(dataclasses.replace(chosen.component, **fields))
    operator, g = problem(condition=1e6, smallest=1e-6)
    solution = solved(short, operator, g)
    true = demand_honest(solution, operator, g, "max_iter=1")
    demand(
        not solution.converged or true <= USABLE,
        f"max_iter=1: it says converged with a relative residual of {true:.1e}",
    )


def determinism(chosen: Chosen) -> None:
    """The same equation has the same s, bit by bit."""
    np.random.seed(6)
    operator, g = problem(condition=30)
    once = solved(chosen, operator, g).value.copy()
    np.random.seed(7)  # whoever asks the global generator gets other numbers
    same(solved(chosen, operator, g).value, once, "s differs from one solve to the next")


def no_mutation(chosen: Chosen) -> None:
    """g is not changed, and s is an array of its own."""
    operator, g = problem(condition=30)
    for given in (g, np.stack([g, 2 * g], axis=1)):
        held = given.copy()
        s = solved(chosen, operator, given).value
        same(given, held, "solve() has changed the g that it was given")
        demand(not np.shares_memory(s, given), "s lies in the memory of g")


def curvature(chosen: Chosen) -> None:
    """H of a logistic regression, two classes and three, with a g of validation rows."""
    for classes in (2, 3):
        rows, judges = rows_of(60, 5, classes), rows_of(20, 5, classes, seed=9)
        found = adopt_model("logreg").fit(rows).curvature(rows)
        g = found.gradient(judges)
        demand_solved(chosen, found, g, f"a logistic regression of {classes} classes")
