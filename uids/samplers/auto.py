"""The sampler left to cross-fitting."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from uids.errors import UidsError, require

if TYPE_CHECKING:
    from uids.backends import Array
    from uids.scoring.scores import Scores


@dataclass(frozen=True)
class Auto:
    """Tries each of ``among``, names of samplers, and takes the one whose subset is best on
    held-out validation rows; see ``uids/selection/choose.py``. Those of a plugin may be among
    them."""

    among: list[str] = field(default_factory=lambda: ["dropout", "loss", "confident"])

    def __post_init__(self) -> None:
        names = isinstance(self.among, list | tuple) and all(isinstance(n, str) for n in self.among)
        distinct = names and 0 < len(self.among) == len(set(self.among))
        must = "a list of different names of samplers"
        require(distinct and "auto" not in self.among, "among", must, self.among)

    def alternatives(self) -> list[str]:
        return list(self.among)

    def probabilities(self, scores: Scores) -> Array:
        raise UidsError("sampler=auto is chosen by a run: name one of its samplers here")
