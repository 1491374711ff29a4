"""The tables of ``sweep.report``, a module each. The names stand here and nowhere else; a module is
imported when its table is wanted."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uids.report.section import Run, Section

POINTS = "points"  # the tables that every sweep has, and no others
MODULES = {
    "paper": "uids.report.experiments.paper",
    "solvers": "uids.report.experiments.solvers",
    "timing": "uids.report.experiments.timing",
    "auto": "uids.report.experiments.auto",
}
REPORTS = (POINTS, *MODULES)


def experiment_sections(report: str, runs: list[Run]) -> list[Section]:
    """The sections of one of REPORTS; none where no run has ended well yet."""
    if report == POINTS or not runs:
        return []
    sections: Callable[[list[Run]], list[Section]] = import_module(MODULES[report]).sections
    return sections(runs)
