"""Poisson regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from uids.plugin import Array, LinearLoss


@dataclass(frozen=True)
class Poisson(LinearLoss):
    """l = e^z − y z + y log y − y, half the deviance of y from the mean e^z. The α of
    scikit-learn's PoissonRegressor is 1 / (nC)."""

    loss_name: ClassVar[str] = "half Poisson deviance"
    continuous: ClassVar[bool] = True

    def loss(self, y: Array, z: Array) -> Array:
        return np.exp(z) - y * z + xlogy(y, y) - y

    def slope(self, y: Array, z: Array) -> Array:
        return np.exp(z) - y

    def bend(self, y: Array, z: Array) -> Array:
        return np.exp(z)

    def prediction(self, z: Array) -> Array:
        return np.exp(z)

    def objection(self, y: Array) -> str:
        return "" if y.min() >= 0 else f"counts must be 0 or more, and one of them is {y.min():g}"
