"""What was tried and what was chosen, in plain values: ``selection`` of ``metrics.json``."""

from __future__ import annotations

from uids.models.model import number_C
from uids.pipeline.decide import Decided
from uids.pipeline.metrics import Choice, SelectionMetrics


def describe_selection(decided: Decided) -> SelectionMetrics:
    """Each candidate entry by entry, its mean and standard error against where the walk began."""
    selection = decided.selection
    assert selection is not None
    judged, start = selection.judged, selection.start
    candidates = [each.candidate for each in judged]
    metrics: SelectionMetrics = {
        "grid": [candidate.ratio for candidate in candidates],
        "mean": [float(each.against(start).mean()) for each in judged],
        "standard_error": [each.error_against(start) for each in judged],
        "sampler": [c.sampler.name if c.drops else None for c in candidates],
        "C": [candidate.C for candidate in candidates],
        "stratify": [c.stratify if c.drops else None for c in candidates],
        "validation_weight": [candidate.weight for candidate in candidates],
        "metric": selection.pick.metric,
        "chosen": selection.pick.candidate.ratio,
        "choice": describe_choice(decided),
        "picked": judged.index(selection.pick),
        "tuned": judged.index(selection.tuned),
        "reason": selection.reason,
        "not_tried": selection.not_tried,
        "folds": selection.folds,
        "fits": selection.fits,
    }
    if selection.open.alpha:
        metrics["alpha"] = [candidate.alpha for candidate in candidates]
        metrics["chosen_alpha"] = float(decided.sampler.alpha)
    return metrics


def describe_choice(decided: Decided) -> Choice:
    """What was chosen, and what was given."""
    return {
        "ratio": decided.ratio,
        "sampler": decided.sampler.name,
        "C": number_C(decided.model.C) if decided.model.C is not None else None,
        "stratify": decided.stratify,
        "final": decided.final,
        "validation_weight": decided.weight,
    }
