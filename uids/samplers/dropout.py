"""Data dropout: the rows with the smallest influence, without chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from uids.samplers.ranking import falling

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class Dropout:
    """π_i falls with the rank of φ_i, from 1 for the smallest to 1/n for the largest."""

    deterministic: ClassVar[bool] = True

    def probabilities(self, scores: Scores) -> Array:
        return falling(scores.phi)
