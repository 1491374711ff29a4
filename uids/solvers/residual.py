"""How far a solution is from solving its equation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uids.backends import Array
from uids.solvers.adopted import operator_of
from uids.solvers.operator import Operator

COLUMNS = 32  # vectors whose products are made together


class Residual(NamedTuple):
    r: Array
    relative: float
    scores: Array | None = None


def residual(operator: Operator, s: Array, g: Array, scores: Array | None = None) -> Residual:
    """r = g − H s and its largest ‖r‖ / ‖g‖ over columns: from s itself, never a recursion. And the
    ``scores`` of s, see ``Solution``, which may be known before.

    A few columns at a time: H s of all of them may pass through n rows at once."""
    if g.shape[1:] in ((), (1,)):
        product, scores = operator_of(operator).scored_dot(s.reshape(-1), scores)
        product = product.reshape(g.shape)
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
    """Of each column, without a second V; and not by BLAS, whose threads go on for a while."""
    return np.asarray(np.sqrt(np.einsum("i...,i...->...", V, V)))
