"""From probabilities to the rows of one subset and their weights."""

from __future__ import annotations

import numpy as np

from uids.backends import Array
from uids.models import Rows
from uids.samplers.adopted import AdoptedSampler
from uids.selection.draw import Draw, draw
from uids.selection.settings import SelectionSettings


def draw_subset(
    pi: Array,
    train: Rows,
    sampler: AdoptedSampler,
    ratio: float,
    settings: SelectionSettings,
    seed: int,
) -> tuple[Draw, Array | None]:
    """The kept rows, and their weights where the sampler weights."""
    drawn = draw(
        pi,
        train.y,
        ratio=ratio,
        kind=settings.draw,
        stratify=settings.stratify,
        deterministic=sampler.deterministic,
        seed=seed,
    )
    return drawn, row_weights(drawn, sampler)


def row_weights(drawn: Draw, sampler: AdoptedSampler) -> Array | None:
    """1 / inclusion for a weighted sampler, brought to mean 1 unless it says otherwise: as they
    are, the weights would raise the effective C."""
    if not sampler.weighted:
        return None
    weights = 1 / drawn.inclusion
    return np.asarray(weights / weights.mean() if sampler.normalise else weights)
