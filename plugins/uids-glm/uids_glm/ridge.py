"""Ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from uids.plugin import Array, LinearLoss


@dataclass(frozen=True)
class Ridge(LinearLoss):
    """l = (y − z)². The α of scikit-learn's Ridge is 1 / (2C)."""

    loss_name: ClassVar[str] = "squared error"
    continuous: ClassVar[bool] = True

    def loss(self, y: Array, z: Array) -> Array:
        return (y - z) ** 2

    def slope(self, y: Array, z: Array) -> Array:
        return 2 * (z - y)

    def bend(self, y: Array, z: Array) -> Array:
        return np.full(len(z), 2.0)
