"""L-optimal sampling for logistic regression (Wang, Zhu and Ma 2018): no Hessian is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from uids.samplers.weighted import Weighted

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class MVC(Weighted):
    """π_i ∝ |y_i − p_i| ‖x_i‖ = ‖∇l_i‖, the largest being 1."""

    def probabilities(self, scores: Scores) -> Array:
        return self.relative(scores.gradient_norm)
