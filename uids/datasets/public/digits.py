"""Handwritten digits, as scikit-learn embeds them: nothing to download."""

from __future__ import annotations

from dataclasses import dataclass

from uids.datasets.data import Data
from uids.datasets.public.embedded import embedded

DARKEST = 16.0  # the largest value of a pixel


@dataclass(frozen=True)
class Digits:
    """1,797 rows, 64 features, ten classes of 174 to 183 rows each: images of 8 × 8 pixels, whose
    values from 0 to 16 ``scale`` brings to [0, 1]."""

    scale: bool = True

    def load(self) -> Data:
        X, y, names = embedded("digits")
        return Data(X / DARKEST if self.scale else X, y, features=names)
