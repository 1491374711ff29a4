"""Sigmoid sampling, the paper's main proposal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from uids.errors import require

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class Sigmoid:
    """π_i = 1 / (1 + exp(α φ_i / (max φ − min φ))).

    α → 0 keeps every row with probability ½, α → ∞ keeps just the rows with φ < 0. ``auto``
    leaves it to cross-fitting, see ``uids/selection/choose.py``.
    """

    alpha: int | float | str = 10.0

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, str):
            object.__setattr__(self, "alpha", float(self.alpha))  # 1 and 1.0 are one value
        right = self.alpha == "auto" if isinstance(self.alpha, str) else 0 < self.alpha < np.inf
        require(right, "alpha", "positive or 'auto'", self.alpha)

    def gradient_bound(self, scores: Scores) -> float:
        """σ = α / (4 (max φ − min φ)): the slope at φ = 0."""
        # By numpy, for which it is infinite where all φ are equal.
        return float(np.divide(float(self.alpha), 4 * np.ptp(scores.phi)))

    def probabilities(self, scores: Scores) -> Array:
        from scipy.special import expit

        alpha, span = float(self.alpha), float(np.ptp(scores.phi))
        scale = alpha / span if span > 0 else 0.0
        if np.isinf(scale):  # all influence is tiny: φ is divided first
            return np.asarray(expit(-alpha * (scores.phi / span)))
        return np.asarray(expit(-scale * scores.phi))
