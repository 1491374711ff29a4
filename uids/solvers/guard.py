"""What another package's solver is held to: its answer is put into the equation."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real

import numpy as np

from uids.backends import Array, handed
from uids.errors import Blame, ComponentError
from uids.solvers.operator import Operator
from uids.solvers.solution import Solution

# Relative residual from which an answer that is called "converged" is held against what was said of
# it: a factorisation may leave this much of an ill-conditioned H without being wrong.
DOUBTED = 1e-4

# How many times larger than what was said a residual may then be.
HONEST = 10.0

# Relative residual of an s that answers nothing, whatever is said of it.
UNSOLVED = 0.5


def checked(solution: Solution, operator: Operator, g: Array, blame: Blame) -> Solution:
    """The solution with its true residual; an error where it is not what it says it is."""
    value = handed(solution.value, g.shape, "s", blame)
    said = solution.relative_residual
    if not (isinstance(said, Real) and isinstance(solution.status, str)):
        raise ComponentError(
            f"{blame.who} gave a Solution whose status is {solution.status!r} and whose "
            f"relative_residual is {said!r}: a str and a float are needed"
        )
    relative, scores = true_residual(operator, value, g)
    wrong = not relative <= max(DOUBTED, HONEST * float(said))
    if solution.converged and wrong:
        raise ComponentError(
            f"{blame.who} says 'converged' with a relative residual of {float(said):.1e}, but that "
            f"of the s which it gave is {relative:.1e}: its answer is not used"
        )
    if solution.converged and relative > UNSOLVED:
        raise ComponentError(
            f"{blame.who} says 'converged' with a relative residual of {relative:.1e}: that is no "
            "solution, and its status has to say so"
        )
    if value.ndim > 1:  # a mean over the columns is no bound of the largest
        relative = max(relative, float(said))
    return replace(
        solution,
        value=value,
        relative_residual=relative,
        scored=(value, scores) if scores is not None else None,
    )


def true_residual(operator: Operator, s: Array, g: Array) -> tuple[float, Array | None]:
    """‖g − H s‖ / ‖g‖ by one product, and X s where that comes up on the way.

    Of several columns, that of their sum with random signs and sizes c: ‖(G − H S) c‖ / ‖G c‖ is
    about ‖G − H S‖ / ‖G‖, and a column that is wrong cannot hide in it.
    """
    if g.ndim == 1:
        product, scores = operator.scored_dot(s)
        return relative_size(g - product, g), scores
    size = np.sqrt(np.einsum("ij,ij->j", g, g))
    # Each column as large as the others.
    c = np.random.default_rng(0).standard_normal(g.shape[1]) / np.where(size > 0, size, 1)
    combined = g @ c
    return relative_size(combined - operator.dot(s @ c), combined), None


def relative_size(r: Array, g: Array) -> float:
    # Not by BLAS, whose threads would go on for a while.
    scale = float(np.sqrt(np.einsum("i,i->", g, g)))
    return float(np.sqrt(np.einsum("i,i->", r, r))) / (scale or 1.0)
