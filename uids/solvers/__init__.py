"""Solving H s = g from an operator alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from uids.backends import Array


class Operator(Protocol):
    """What a solver may know of H: symmetric positive definite, (size, size)."""

    size: int
    rows: int

    def dot(self, V: Array) -> Array: ...
    def diagonal(self) -> Array: ...
    def dense(self) -> Array: ...
    def dot_rows(self, V: Array, index: Array) -> Array: ...


@dataclass(frozen=True)
class Solution:
    """s, and how far it can be trusted. ``status`` is "converged", or the sentence that helps."""

    value: Array
    status: str
    iterations: int
    relative_residual: float


def relative_residual(operator: Operator, s: Array, g: Array) -> float:
    """‖H s − g‖ / ‖g‖ from s itself, never from a recursion; the largest over columns."""
    residual = np.linalg.norm(operator.dot(s) - g, axis=0)
    scale = np.linalg.norm(g, axis=0)
    return float(np.max(residual / np.where(scale > 0, scale, 1)))
