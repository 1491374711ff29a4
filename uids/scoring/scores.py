"""What a sampler may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from uids.backends import Array

if TYPE_CHECKING:
    from uids.scoring.influence import Influence


@dataclass(frozen=True)
class Scores:
    """One number for each training row.

    ``phi`` φ_i > 0 means that row i harms. ``loss`` l_i(θ̂). ``y`` the class, 0..K−1. ``psi_norm``
    ‖H⁻¹ ∇l_i‖ and ``gradient_norm`` ‖∇l_i‖, computed when first asked for.
    """

    phi: Array
    loss: Array
    y: npt.NDArray[np.int64]
    influence: Influence

    @property
    def gradient_norm(self) -> Array:
        return self.influence.gradient_norm

    @property
    def psi_norm(self) -> Array:
        return self.influence.psi_norm
