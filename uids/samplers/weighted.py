"""What the weighted samplers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from uids.errors import require

if TYPE_CHECKING:
    from uids.backends import Array


@dataclass(frozen=True)
class Weighted:
    """Kept rows weigh one over their inclusion probability: the subset stands for the whole.

    ``floor`` is the lowest π, which keeps a weight from becoming arbitrarily large. Taken literally
    the weights would raise the effective C up to 1/floor times; ``normalise`` makes their mean 1.
    """

    floor: float = 0.01
    normalise: bool = True

    weighted: ClassVar[bool] = True
    needs_trusted_rows: ClassVar[bool] = False  # none of them looks at φ

    def __post_init__(self) -> None:
        require(0 < self.floor <= 1, "floor", "in (0, 1]", self.floor)

    def floored(self, pi: Array) -> Array:
        return np.clip(pi, self.floor, 1)

    def relative(self, size: Array) -> Array:
        """π in proportion to ``size``, the largest being 1."""
        return self.floored(size / max(size.max(), np.finfo(float).tiny))
