"""Data dropout: the rows with the smallest influence, without chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class Dropout:
    """π_i falls with the rank of φ_i, from 1 for the smallest to 1/n for the largest."""

    deterministic: ClassVar[bool] = True

    def probabilities(self, scores: Scores) -> Array:
        n = len(scores.phi)
        rank = np.empty(n)
        rank[np.argsort(scores.phi, kind="stable")] = np.arange(n)
        return 1 - rank / n
