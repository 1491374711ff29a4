"""Many vectors solved to a few digits, as random vectors want it."""

from __future__ import annotations

from uids.backends import Array
from uids.solvers.adopted import operator_of
from uids.solvers.conjugate import conjugate_gradients
from uids.solvers.operator import Operator, Precondition
from uids.solvers.pcg import mixed
from uids.solvers.solution import Solution


def rough_precondition(operator: Operator, g: Array, tol: float) -> Precondition | None:
    """The model's own, else the mixed diagonal where one vector g takes fewer products with it."""
    operator = operator_of(operator)
    own = operator.preconditioner() if operator.advice().preconditioner else None
    if own is not None:
        return own
    plain = rough(operator, g, None, tol, PILOT)
    if operator.diagonal_cost > PILOT:  # dearer than what it could save
        return None
    rival = mixed(operator, 0.5)
    ahead = rough(operator, g, rival, tol, PILOT)
    fewer = ahead.iterations < plain.iterations
    return rival if fewer or ahead.relative_residual < tol < plain.relative_residual else None


PILOT = 50  # products, within which a vector to a few digits should be done


def rough(
    operator: Operator, G: Array, precondition: Precondition | None, tol: float, most: int
) -> Solution:
    """Each column to ‖g − H s‖ ≤ tol ‖g‖ by conjugate gradients; it may end short of it."""
    return conjugate_gradients(
        operator, G, tol=tol, max_iter=most, precondition=precondition, name="rough"
    )
