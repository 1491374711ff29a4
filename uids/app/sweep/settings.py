"""The keys of a sweep, beside those of its runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from uids.errors import require
from uids.report.experiments import POINTS, REPORTS
from uids.system.keys import key, one_of


@dataclass(frozen=True)
class SweepSettings:
    """What a sweep is beside its runs; of no effect on any of them.

    Each of ``grids`` is a set of axes as on the command line, {"sampler": "sigmoid",
    "sampler.alpha": "1,5"}; the sweep is all of them, one after the other. What is on the command
    line wins over each.
    """

    report: str = key(POINTS, f"the table that a sweep ends in: {', '.join(REPORTS)}")
    grids: list[dict[str, Any]] = field(
        default_factory=list,
        metadata={"help": "several grids in one sweep (in an experiment file)"},
    )

    reasons: bool = key(False, "write reasons.json for each point of a sweep too")

    def __post_init__(self) -> None:
        require(self.report in REPORTS, "sweep.report", one_of(REPORTS), self.report)
