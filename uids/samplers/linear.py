"""Linear sampling, the paper's second proposal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from uids.errors import require

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class Linear:
    """π_i = max(0, min(1, −α φ_i)), with α = 1 / max|φ| unless it is given. ``auto`` leaves it to
    cross-fitting, see ``uids/selection/choose.py``."""

    alpha: int | float | str | None = None

    def __post_init__(self) -> None:
        if self.alpha is not None:
            if not isinstance(self.alpha, str):
                object.__setattr__(self, "alpha", float(self.alpha))  # 1 and 1.0 are one value
            right = self.alpha == "auto" if isinstance(self.alpha, str) else 0 < self.alpha < np.inf
            require(right, "alpha", "positive, null or 'auto'", self.alpha)

    def alpha_unit(self, scores: Scores) -> float:
        """1 / max|φ|: multiples of it mean the same for any φ."""
        return float(1 / max(np.abs(scores.phi).max(), np.finfo(float).tiny))

    def gradient_bound(self, scores: Scores) -> float:
        """σ = α."""
        return float(self.alpha or 1 / np.abs(scores.phi).max())

    def probabilities(self, scores: Scores) -> Array:
        if self.alpha is not None:
            return np.clip(-float(self.alpha) * scores.phi, 0, 1)
        # Divided, not multiplied by 1 / max|φ|, which overflows when all influence is tiny.
        largest = np.abs(scores.phi).max()
        return np.clip(-scores.phi / (largest if largest > 0 else 1), 0, 1)
