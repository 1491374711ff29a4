"""A-optimal sampling (Wang, Zhu and Ma 2018): the least mean squared error of the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from uids.samplers.weighted import Weighted

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class MMSE(Weighted):
    """π_i ∝ |y_i − p_i| ‖H⁻¹ x_i‖ = ‖ψ_i‖, the largest being 1. H has the ridge, as everywhere."""

    def probabilities(self, scores: Scores) -> Array:
        return self.relative(scores.psi_norm)
