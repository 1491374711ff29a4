"""Optimal sampling (Ting and Brochu 2018), the weighted rival in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from uids.errors import require
from uids.samplers.weighted import Weighted

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class Optimal(Weighted):
    """π_i = max(floor, min(1, λ ‖ψ_i‖)), with λ = 1 / max‖ψ‖ unless it is given.

    ψ_i = −H⁻¹∇l_i is how far row i moves the parameters. Such a subset can come close to the full
    set's model, not beat it.
    """

    lam: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lam is not None:
            require(0 < self.lam < np.inf, "lam", "positive or null", self.lam)

    def probabilities(self, scores: Scores) -> Array:
        norm = scores.psi_norm
        return self.relative(norm) if self.lam is None else self.floored(self.lam * norm)
