"""Optimal sampling (Ting and Brochu 2018), the weighted rival in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from uids.errors import require

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scores import Scores


@dataclass(frozen=True)
class Optimal:
    """π_i = max(floor, min(1, λ ‖ψ_i‖)), with λ = 1 / max‖ψ‖ unless it is given.

    ψ_i = −H⁻¹∇l_i is how far row i moves the parameters. The kept rows are weighted by one over
    their inclusion probability, so that the subset stands for the whole: it can come close to the
    full set's model, not beat it. Taken literally the weights would raise the effective C up to
    1/floor times; ``normalise`` brings them to mean 1.
    """

    lam: float | None = None
    floor: float = 0.01
    normalise: bool = True

    weighted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.lam is not None:
            require(0 < self.lam < np.inf, "lam", "positive or null", self.lam)
        require(0 < self.floor <= 1, "floor", "in (0, 1]", self.floor)

    def probabilities(self, scores: Scores) -> Array:
        norm = scores.psi_norm
        largest = norm.max()
        scaled = norm * self.lam if self.lam else norm / (largest if largest > 0 else 1)
        return np.clip(scaled, self.floor, 1)
