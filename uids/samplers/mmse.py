"""A-optimal sampling (Wang, Zhu and Ma 2018): the least mean squared error of the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from uids.errors import require

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scores import Scores


@dataclass(frozen=True)
class MMSE:
    """π_i ∝ |y_i − p_i| ‖H⁻¹ x_i‖ = ‖ψ_i‖, the largest being 1; weighted.

    H has the ridge, as everywhere here. ``floor`` keeps a weight from becoming arbitrarily large.
    """

    floor: float = 0.01
    normalise: bool = True

    weighted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(0 < self.floor <= 1, "floor", "in (0, 1]", self.floor)

    def probabilities(self, scores: Scores) -> Array:
        norm = scores.psi_norm
        return np.clip(norm / max(norm.max(), np.finfo(float).tiny), self.floor, 1)
