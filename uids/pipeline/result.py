"""What a run leaves."""

from __future__ import annotations

from dataclasses import dataclass

from uids.backends import Array
from uids.models import Fitted
from uids.pipeline.metrics import Metrics


@dataclass(frozen=True, repr=False)
class Result:
    """What a run leaves: the metrics, one line for each training row, and the two models."""

    metrics: Metrics
    row: Array
    label: Array
    influence: Array
    probability: Array
    kept: Array  # of the first repeat
    flipped: Array  # where ``noise`` changed the label
    validation_row: Array  # as ``row``, where the validation rows are of the training file; or none
    full: Fitted
    subset: Fitted  # of the first repeat
    final: Fitted  # the model to use: of the subset, or of the subset and the validation rows

    def __repr__(self) -> str:
        part = "validation" if self.metrics["full"]["test"] is None else "test"
        full, subset = (self.metrics[name][part]["logloss"] for name in ("full", "subset"))
        size = f"{self.metrics['subset']['size']:.0f} of {len(self.row)} rows kept"
        return f"<uids.Result: {size}, {part} logloss {subset:.4f} (full {full:.4f})>"
