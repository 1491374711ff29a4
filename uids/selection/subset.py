"""From probabilities to the rows of one subset and their weights."""

from __future__ import annotations

import numpy as np

from uids.backends import Array
from uids.errors import UidsError
from uids.models import Rows
from uids.samplers.adopted import AdoptedSampler
from uids.selection.draw import Draw, draw


def draw_subset(
    pi: Array,
    train: Rows,
    sampler: AdoptedSampler,
    ratio: float,
    kind: str,
    stratify: bool,
    seed: int,
) -> tuple[Draw, Array | None]:
    """The kept rows, and their weights where the sampler weights."""
    drawn = draw(
        pi,
        train.strata,
        ratio=ratio,
        kind=kind,
        stratify=stratify,
        deterministic=sampler.deterministic,
        seed=seed,
    )
    if not len(drawn.rows):
        raise UidsError(
            f"none of {len(train):,} rows was kept: the largest probability that sampler "
            f"{sampler.name!r} gives is {pi.max():.2g}; use draw=exact, which keeps to the ratio, "
            "or another sampler"
        )
    return drawn, row_weights(drawn, sampler)


def row_weights(drawn: Draw, sampler: AdoptedSampler) -> Array | None:
    """1 / inclusion for a weighted sampler, brought to mean 1 unless it says otherwise: as they
    are, the weights would raise the effective C."""
    if not sampler.weighted:
        return None
    weights = 1 / drawn.inclusion
    return np.asarray(weights / weights.mean() if sampler.normalise else weights)
