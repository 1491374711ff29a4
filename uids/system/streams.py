"""Random numbers: a stream of its own for each use, so that more of one changes none of another.

LiSSA, Nyström and networks have a seed among their fields and a stream of their own from it.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    SPLIT = 0  # which rows are for training, validation and test
    NOISE = 1  # which training rows are made wrong, and how
    DRAW = 2  # which rows are kept
    NORMS = 3  # vectors behind the estimate of ‖ψ‖
    LEVERAGE = 4  # vectors behind the estimate of leverage and self-influence
    FOLDS = 5  # which validation rows judge together
    VALIDATION_NOISE = 6  # which validation labels are flipped, and to what
    REASONS = 7  # which rows a row is compared with, where there are too many
    SHUFFLES = 8  # of rows between two samples, in a test of whether they differ


def generator(seed: int, stream: Stream) -> np.random.Generator:
    return np.random.default_rng([seed, int(stream)])
