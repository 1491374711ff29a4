"""What a run leaves."""

from __future__ import annotations

from dataclasses import dataclass

from uids.backends import Array
from uids.models import Fitted
from uids.pipeline.metrics import Metrics, Part


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
    final: Fitted  # what ``final`` asks for: the subset's, or that with the validation rows too

    def __repr__(self) -> str:
        full, subset = self.metrics["full"], self.metrics["subset"]
        part: Part = "validation" if full["test"] is None else "test"
        before, after = full[part] or full["validation"], subset[part] or subset["validation"]
        kept = f"{subset['size']:.0f} of {len(self.row)} rows kept"
        losses = f"{part} logloss {after['logloss']:.4f} (full {before['logloss']:.4f})"
        return f"<uids.Result: {kept}, {losses}>"
