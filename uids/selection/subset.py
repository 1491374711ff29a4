"""From a sampler and its scores to the rows of one subset and their weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from uids.backends import Array
from uids.errors import UidsError
from uids.models import Rows
from uids.pipeline.describe import name_of
from uids.pipeline.settings import Settings
from uids.scoring.scores import Scores
from uids.selection.draw import Draw, draw


def probabilities(sampler: Any, scores: Scores) -> Array:
    """π: a sampler may come from anyone, so what it gives is looked at before it is used."""
    pi = np.asarray(sampler.probabilities(scores), dtype=np.float64)
    name, n = name_of("sampler", sampler), len(scores.phi)
    if pi.shape != (n,):
        raise UidsError(f"sampler {name!r} gave probabilities of shape {pi.shape} for {n} rows")
    if not ((pi >= 0) & (pi <= 1)).all():
        raise UidsError(f"sampler {name!r} gave probabilities outside [0, 1]")
    return pi


def is_deterministic(sampler: Any) -> bool:
    return bool(getattr(sampler, "deterministic", False))


def draw_subset(
    pi: Array, train: Rows, sampler: Any, ratio: float, settings: Settings, seed: int
) -> tuple[Draw, Array | None]:
    """The kept rows, and their weights where the sampler weights."""
    drawn = draw(
        pi,
        train.y,
        ratio=ratio,
        kind=settings.draw,
        stratify=settings.stratify,
        deterministic=is_deterministic(sampler),
        seed=seed,
    )
    return drawn, row_weights(drawn, sampler)


def row_weights(drawn: Draw, sampler: Any) -> Array | None:
    """1 / inclusion for a weighted sampler, brought to mean 1 unless it says otherwise: as they
    are, the weights would raise the effective C."""
    if not getattr(sampler, "weighted", False):
        return None
    weights = 1 / drawn.inclusion
    return np.asarray(weights / weights.mean() if getattr(sampler, "normalise", True) else weights)
