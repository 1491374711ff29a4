"""Probit regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_ndtr, ndtr

from uids.plugin import Array, LinearLoss

ROOT = np.log(2 * np.pi) / 2


@dataclass(frozen=True)
class Probit(LinearLoss):
    """l = −log Φ(s z) with s = 2y − 1: the logloss of P(y = 1) = Φ(z), Φ being the distribution
    function of the normal distribution. With r = Φ′(s z) / Φ(s z): l′ = −s r, l″ = r (r + s z)."""

    loss_name: ClassVar[str] = "logloss"

    def loss(self, y: Array, z: Array) -> Array:
        return -np.asarray(log_ndtr((2 * y - 1) * z))

    def slope(self, y: Array, z: Array) -> Array:
        return -(2 * y - 1) * ratio((2 * y - 1) * z)

    def bend(self, y: Array, z: Array) -> Array:
        m = (2 * y - 1) * z
        # Far out on the wrong side l″ is 1, but for the rounding of a difference of large numbers.
        return np.clip(ratio(m) * (ratio(m) + m), 0, 1)

    def probability(self, z: Array) -> Array:
        return np.asarray(ndtr(z))


def ratio(m: Array) -> Array:
    """Φ′(m) / Φ(m), by logarithms: both are 0 for large −m."""
    return np.asarray(np.exp(-m * m / 2 - ROOT - log_ndtr(m)))
