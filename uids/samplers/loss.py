"""Loss trimming: the rows with the smallest loss, without chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from uids.samplers.ranking import falling

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class Loss:
    """π_i falls with the rank of the loss of row i: rows whose label the model does not believe go
    first. It needs no trusted rows; where the model has them, it is the better for them."""

    deterministic: ClassVar[bool] = True
    needs_trusted_rows: ClassVar[bool] = False

    def probabilities(self, scores: Scores) -> Array:
        return falling(scores.reference_loss)
