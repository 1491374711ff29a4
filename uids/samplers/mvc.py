"""L-optimal sampling for logistic regression (Wang, Zhu and Ma 2018): no Hessian is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from uids.errors import require

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scores import Scores


@dataclass(frozen=True)
class MVC:
    """π_i ∝ |y_i − p_i| ‖x_i‖ = ‖∇l_i‖, the largest being 1; weighted.

    ``floor`` keeps a weight from becoming arbitrarily large.
    """

    floor: float = 0.01
    normalise: bool = True

    weighted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(0 < self.floor <= 1, "floor", "in (0, 1]", self.floor)

    def probabilities(self, scores: Scores) -> Array:
        norm = scores.gradient_norm
        return np.clip(norm / max(norm.max(), np.finfo(float).tiny), self.floor, 1)
