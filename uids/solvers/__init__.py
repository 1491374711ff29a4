"""Solving H s = g from an operator alone.

A solver is a component with ``solve(operator, g)``. It knows nothing of models: only the products
with H. g may be one vector (size,) or several (size, m), solved together.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from uids.backends import Array
from uids.errors import require

ON_FAILURE = ("error", "warn")
COLUMNS = 32


class Operator(Protocol):
    """What a solver may know of H: symmetric positive definite, (size, size).

    ``scale`` H is the matrix in the scale in which its ridge is 1: I + C Σ_i ∇²l_i, so that
    scale = n C for a penalty ½‖θ‖²/C.
    """

    size: int
    rows: int
    scale: float

    def dot(self, V: Array) -> Array: ...  # H V
    def diagonal(self) -> Array: ...  # diag(H)
    def dense(self) -> Array: ...  # H itself
    def dot_rows(self, V: Array, index: Array) -> Array: ...  # H V estimated from some rows


@dataclass(frozen=True)
class Solution:
    """s, and how far it can be trusted.

    ``status`` is "converged", or the sentence that says what to change. The relative residual
    is computed from the final s. ``note`` says what was done, where there was a choice.
    ``scored`` is an s and what the operator's ``scored_dot`` told of it beside H s, if it has one.
    """

    value: Array
    status: str
    iterations: int
    relative_residual: float
    note: str = ""
    scored: tuple[Array, Array | None] | None = None

    @property
    def scores(self) -> Array | None:
        """X s, where it is known of this s and no other."""
        return self.scored[1] if self.scored and self.scored[0] is self.value else None

    @property
    def converged(self) -> bool:
        return self.status == "converged"


class Residual(NamedTuple):
    r: Array
    relative: float
    scores: Array | None = None


def residual(operator: Operator, s: Array, g: Array, scores: Array | None = None) -> Residual:
    """r = g − H s and its largest ‖r‖ / ‖g‖ over columns: from s itself, never a recursion. And the
    ``scores`` of s, see ``Solution``, which may be known before.

    A few columns at a time: H s of all of them may pass through n rows at once."""
    if g.shape[1:] in ((), (1,)):
        # Of its class: what a wrapper hands on is that of another H.
        if hasattr(type(operator), "scored_dot"):
            product, scores = operator.scored_dot(s.reshape(-1), scores)  # type: ignore[attr-defined]
            product = product.reshape(g.shape)
        else:
            product, scores = operator.dot(s), None
        product = np.require(product, np.float64, "W")
        r = np.subtract(g, product, out=None if np.may_share_memory(product, s) else product)
    else:
        r = np.empty_like(g)
        for i in range(0, g.shape[1], COLUMNS):
            part = np.ascontiguousarray(s[:, i : i + COLUMNS])
            r[:, i : i + COLUMNS] = g[:, i : i + COLUMNS] - operator.dot(part)
    scale = norms(g)
    return Residual(r, float(np.max(norms(r) / np.where(scale > 0, scale, 1))), scores)


def norms(V: Array) -> Array:
    """Of each column, without a second V; and not by BLAS, see ``one_blas_thread``."""
    return np.asarray(np.sqrt(np.einsum("i...,i...->...", V, V)))


def one_blas_thread(operator: Any) -> AbstractContextManager[Any]:
    """For the loop of a solve whose products are not by BLAS (``without_blas``).

    BLAS's threads look for their next task in a busy loop. After each product of two vectors they
    would take the cores from those that work on H, which doubles the time of a sparse solve.
    """
    if not getattr(operator, "without_blas", False):
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def check_stopping(tol: float, max_iter: int, on_failure: str) -> None:
    """The ranges that all iterative solvers share."""
    require(0 < tol < 1, "tol", "in (0, 1)", tol)
    require(max_iter >= 1, "max_iter", "1 or more", max_iter)
    check_on_failure(on_failure)


def check_on_failure(on_failure: str) -> None:
    require(on_failure in ON_FAILURE, "on_failure", "'error' or 'warn'", on_failure)
