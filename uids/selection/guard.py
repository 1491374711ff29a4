"""Whether a candidate's gain on held-out rows is beyond its uncertainty.

The full set stays unless the upper end of a one-sided t interval of the mean of Δ, at ``level``,
lies below 0. With few rows a t interval is too short, since the rows that dropping would harm most
may not be among them. So the interval also counts UNSEEN imaginary rows, each harmed by as much as
any row's loss changed: that is hard to outweigh for 30 rows, and does not matter for 1,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uids.backends import Array
from uids.selection.settings import ChooseSettings
from uids.system.statistics import standard_error, t_interval

UNSEEN = 3  # imaginary rows: where none of n rows was harmed, up to 3 / n may be, at 95 %
WORTH = 0.005  # of the full set's loss: a gain that a person would want to know of


@dataclass(frozen=True)
class Judged:
    """One candidate: its paired differences Δ, one for each validation row."""

    ratio: float
    alpha: float | None  # in the sampler's own unit
    differences: Array

    @property
    def mean(self) -> float:
        return float(self.differences.mean())

    @property
    def standard_error(self) -> float:
        return standard_error(self.differences) or 0.0


def upper_bound(differences: Array, level: float) -> float:
    """The upper end of the guard's interval; below 0, the gain is beyond its uncertainty."""
    largest = np.abs(differences).max()
    seen = np.concatenate([differences, np.full(UNSEEN, largest)])
    return t_interval(seen, 2 * level)[1]


def guarded(judged: Sequence[Judged], settings: ChooseSettings) -> Judged | None:
    """The candidate to take; None for the full set."""
    passed = [each for each in judged if upper_bound(each.differences, settings.level) < 0]
    return min(passed, key=lambda each: each.mean, default=None)


def explain(
    judged: Sequence[Judged],
    pick: Judged | None,
    settings: ChooseSettings,
    loss: float,
    ends: Sequence[str] = (),
) -> str:
    """One sentence: why this point, or why none. ``ends`` says why walks ended early."""
    if not judged:
        why = f" ({ends[0]})" if ends else ""
        return f"the full set stays: no smaller subset could be fitted{why}"
    m = len(judged[0].differences)
    best = pick or min(judged, key=lambda each: each.mean)
    gain = f"{-best.mean:.4f} ± {best.standard_error:.4f} (standard error over {m:,} rows)"
    if pick is not None:
        return (
            f"ratio={best.ratio:g} lowers the held-out validation loss by {gain}, "
            f"from {loss:.4f} with the full set"
        )
    if best.mean >= 0:
        return f"the full set stays: no candidate lowers the held-out validation loss of {loss:.4f}"
    says = f"ratio={best.ratio:g} lowers the held-out validation loss by {gain}, within chance"
    if -best.mean < WORTH * loss:
        return f"the full set stays: {says}"
    return (
        f"the full set stays: {says}; {m:,} validation rows are too few to tell, some "
        f"{rows_needed(best, settings.level):,} might do"
    )


def rows_needed(best: Judged, level: float) -> int:
    """Rows at which the guard would let a gain of this size pass, were they like those here."""
    m = len(best.differences)
    copies = 2
    while copies < 1024 and upper_bound(np.tile(best.differences, copies), level) >= 0:
        copies *= 2
    low = copies // 2
    for tried in range(low, copies, max(1, low // 8)):
        if upper_bound(np.tile(best.differences, tried), level) < 0:
            copies = tried
            break
    return int(round(copies * m, -1))
