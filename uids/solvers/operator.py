"""H as a solver sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from uids.backends import Array

Precondition = Callable[[Array], Array]  # r ↦ M⁻¹ r, for (size,) and for (size, m)


@dataclass(frozen=True)
class Advice:
    """What a model knows of the way to solve its equation, without any work done for it."""

    row_space: bool = False  # whether ``dual()`` pays
    preconditioner: str = ""  # what ``preconditioner()`` would be, where it pays


class RowSolution(NamedTuple):
    """Of a solve in the space of the rows."""

    s: Array  # (size,)
    y: Array  # the solution there, (n,) or (n, k), to go on from
    scores: Array  # X s, with the intercept, of the same shape
    products: int


class Dual(Protocol):
    """The same equation in the space of the rows."""

    def solve(self, g: Array, goal: float, limit: int, start: Array | None = None) -> RowSolution:
        """Until ‖g − H s‖ is about ``goal`` or less, or after ``limit`` products; from ``start``
        on, an earlier y for the same g."""
        ...


class Operator(ABC):
    """H, symmetric positive definite, (size, size). Products take (size,) or (size, m).

    ``scale`` H is the matrix in the scale in which its ridge is 1: I + C Σ_i ∇²l_i, so that
    scale = n C for a penalty ½‖θ‖²/C. The first seven are required; the rest is what an operator
    may know beyond them, each with a default.
    """

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows H is a mean over."""

    @property
    @abstractmethod
    def scale(self) -> float: ...

    @abstractmethod
    def dot(self, V: Array) -> Array:
        """H V."""

    @abstractmethod
    def diagonal(self) -> Array:
        """diag(H), (size,)."""

    @abstractmethod
    def dense(self) -> Array:
        """H itself, (size, size)."""

    @abstractmethod
    def dot_rows(self, V: Array, index: Array) -> Array:
        """H V estimated from some rows."""

    @property
    def dense_cost(self) -> float:
        """About how many products with H the dense form costs."""
        return 1.0

    @property
    def diagonal_cost(self) -> float:
        """About how many products with H the diagonal costs."""
        return 1.0

    def uses_blas(self, columns: int) -> bool:
        """Whether products with that many vectors are by BLAS, which then needs its threads."""
        return True

    def scored_dot(self, s: Array, scores: Array | None = None) -> tuple[Array, Array | None]:
        """H s for one vector, and the scores X s that come up on the way, where there are such;
        less work where they are known."""
        return self.dot(s), None

    def advice(self) -> Advice:
        return Advice()

    def dual(self) -> Dual | None:
        """What ``advice`` promises; None where it cannot be had after all."""
        return None

    def preconditioner(self) -> Precondition | None:
        """What ``advice`` promises; None where it cannot be had after all."""
        return None
