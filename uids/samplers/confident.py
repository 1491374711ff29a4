"""By the label audit: the rows whose label is least probably wrong, without chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from uids.samplers.ranking import falling

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class Confident:
    """π_i falls with the rank of the probability that label i is wrong, see
    ``uids/scoring/labels.py``. It needs no trusted rows."""

    deterministic: ClassVar[bool] = True
    needs_trusted_rows: ClassVar[bool] = False
    needs_classes: ClassVar[bool] = True

    def probabilities(self, scores: Scores) -> Array:
        return falling(scores.label_error)
