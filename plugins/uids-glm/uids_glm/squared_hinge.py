"""The support vector machine with the squared hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from uids.plugin import Array, LinearLoss


@dataclass(frozen=True)
class SquaredHinge(LinearLoss):
    """l = max(0, 1 − s z)² with s = 2y − 1. C is that of scikit-learn's LinearSVC, which penalises
    the intercept too.

    l has no second derivative at s z = 1; the one from the left stands for it, as in LIBLINEAR.
    Of all z, l is smallest in the mean at 2p − 1, p being P(y = 1); σ(2z) has the value and the
    slope of that p = (1 + z) / 2 at 0, and is never quite 0 or 1.
    """

    loss_name: ClassVar[str] = "squared hinge"

    def loss(self, y: Array, z: Array) -> Array:
        return np.maximum(0, 1 - (2 * y - 1) * z) ** 2

    def slope(self, y: Array, z: Array) -> Array:
        return -2 * (2 * y - 1) * np.maximum(0, 1 - (2 * y - 1) * z)

    def bend(self, y: Array, z: Array) -> Array:
        return 2.0 * ((2 * y - 1) * z < 1)

    def probability(self, z: Array) -> Array:
        return np.asarray(expit(2 * z))
