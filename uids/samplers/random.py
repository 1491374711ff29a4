"""Uniform sampling: the baseline that looks at nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class Random:
    """π_i = 1: every row alike. How many are kept is up to the ratio."""

    needs_trusted_rows: ClassVar[bool] = False

    def gradient_bound(self, scores: Scores) -> float:
        return 0.0

    def probabilities(self, scores: Scores) -> Array:
        return np.ones(len(scores.phi))
