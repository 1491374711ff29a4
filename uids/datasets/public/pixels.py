"""What sets of images share."""

from __future__ import annotations

from typing import Any

from uids.datasets.data import Pair


def two_classes(X: Any, y: Any, positive: int, negative: int) -> Pair:
    """The rows of two classes, y being 1 and 0, and pixels from 0 to 255 brought to [0, 1]."""
    chosen = (y == positive) | (y == negative)
    return X[chosen].reshape(int(chosen.sum()), -1) / 255.0, (y[chosen] == positive).astype(int)
