"""Which runs have a page with charts and figures: the key ``report``."""

from __future__ import annotations

ALWAYS, SWEEP, NEVER = "always", "sweep", "never"
REPORTS = (ALWAYS, SWEEP, NEVER)
HELP = (
    "pages with charts: of every run (always), of single runs and of sweeps as a whole (sweep), or "
    "of none (never); uids report DIR makes any of them later"
)


def has_page(report: str, single: bool) -> bool:
    """Whether a run writes its page at once: a single one, or a point of a sweep."""
    return report == ALWAYS or (report == SWEEP and single)
