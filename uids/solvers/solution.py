"""What a solve leaves."""

from __future__ import annotations

from dataclasses import dataclass

from uids.backends import Array
from uids.system.display import line


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        how = {"status": self.status, "iterations": self.iterations}
        how["relative residual"] = f"{self.relative_residual:.0e}"
        return line("Solution", how | ({"note": self.note} if self.note else {}))
