"""What a sampler is."""

from __future__ import annotations

from typing import Protocol

from uids.backends import Array
from uids.scoring.scores import Scores


class Sampler(Protocol):
    def probabilities(self, scores: Scores) -> Array:
        """π of each training row, in [0, 1], (n,)."""
        ...
