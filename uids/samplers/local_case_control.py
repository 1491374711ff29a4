"""Local case-control sampling (Fithian and Hastie 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from uids.samplers.weighted import Weighted

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class LocalCaseControl(Weighted):
    """π_i = 1 − p(y_i | x_i), |y_i − p_i| for two classes: rows that surprise the model.

    The original leaves the rows unweighted and corrects the intercept afterwards; weights do the
    same for any model.
    """

    needs_classes: ClassVar[bool] = True

    def probabilities(self, scores: Scores) -> Array:
        return self.floored(-np.expm1(-scores.loss))
