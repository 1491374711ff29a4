"""The keys of scoring."""

from __future__ import annotations

from dataclasses import dataclass

from uids.errors import require
from uids.system.keys import key


@dataclass(frozen=True)
class ScoringSettings:
    probes: int = key(256, "random vectors behind ‖ψ‖ and leverage where they are not exact")

    def __post_init__(self) -> None:
        require(self.probes >= 1, "probes", "1 or more", self.probes)
