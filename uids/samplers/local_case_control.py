"""Local case-control sampling (Fithian and Hastie 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from uids.errors import require

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scores import Scores


@dataclass(frozen=True)
class LocalCaseControl:
    """π_i = 1 − p(y_i | x_i), |y_i − p_i| for two classes: rows that surprise the model; weighted.

    The original leaves the rows unweighted and corrects the intercept afterwards; weights do the
    same for any model. ``floor`` keeps a weight from becoming arbitrarily large.
    """

    floor: float = 0.01
    normalise: bool = True

    weighted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(0 < self.floor <= 1, "floor", "in (0, 1]", self.floor)

    def probabilities(self, scores: Scores) -> Array:
        return np.clip(-np.expm1(-scores.loss), self.floor, 1)
