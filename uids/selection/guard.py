"""Whether a gain on held-out rows is beyond its uncertainty.

**Dropping.** Nothing is dropped unless the upper end of a one-sided t interval of the mean of Δ, at
``level``, lies below 0. With few rows a t interval is too short, since the rows that dropping would
harm most may not be among them. So the interval also counts UNSEEN imaginary rows, each harmed by
as much as any row's loss changed: that is hard to outweigh for 30 rows, and does not matter for
1,000. Where validation rows are few, such a row has a wrong label if that costs more: rows that are
dropped can leave two classes that a line divides, and a model that is sure of itself.

**C and the weight of the validation rows**, which nobody can leave out: the plainest of those that
are not worse than the best by more than ``care`` standard errors, or whose loss to it ``care``
times the imaginary rows would outweigh. A large C can be a little better on most rows and much
worse on a few; so an imaginary row here has a wrong label, if that costs more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from uids.backends import Array
from uids.selection.candidate import Candidate, Judged
from uids.system.statistics import t_interval

UNSEEN = 3  # imaginary rows: where none of n rows was harmed, up to 3 / n may be, at 95 %
WORTH = 0.005  # of the loss: a gain that a person would want to know of


def upper_bound(differences: Array, level: float, least: float = 0.0) -> float:
    """The upper end of the guard's interval; below 0, the gain is beyond its uncertainty. ``least``
    is what an imaginary row is harmed by at least."""
    return t_interval(with_unseen(differences, least), 2 * level)[1]


def with_unseen(differences: Array, least: float = 0.0) -> Array:
    """The differences and those of the imaginary rows."""
    return np.concatenate([differences, np.full(UNSEEN, largest(differences, least))])


def largest(differences: Array, least: float = 0.0) -> float:
    """How much an imaginary row is harmed."""
    return max(float(np.abs(differences).max()), least)


def guarded(
    judged: Sequence[Judged], base: Judged, level: float, wrong_labels: bool = False
) -> Judged | None:
    """The candidate to take in place of ``base``; None where it stays. ``wrong_labels``: imaginary
    rows may have them."""

    def passes(each: Judged) -> bool:
        least = each.wrong_label - base.wrong_label if wrong_labels else 0.0
        return upper_bound(each.against(base), level, least) < 0

    return min(filter(passes, judged), key=lambda each: each.mean, default=None)


def plainest(
    judged: Sequence[Judged], steps: Callable[[Candidate], float], care: float = 1.0
) -> Judged:
    """Of those as good as the best, the one that is the fewest ``steps`` from where it began."""
    best = min(judged, key=lambda each: each.mean)

    def as_good(each: Judged) -> bool:
        gain = best.against(each)  # below 0: of the best over this one
        harm = largest(gain, best.wrong_label - each.wrong_label)
        within = -gain.mean() <= care * best.error_against(each)
        return bool(within or gain.sum() + care * UNSEEN * harm >= 0)

    return min(
        (each for each in judged if as_good(each)),
        key=lambda each: (steps(each.candidate), each.mean),
    )


def rows_needed(differences: Array, level: float) -> int:
    """Rows at which the guard would let a gain of this size pass, were they like those here."""
    m, copies = len(differences), 2
    while copies < 1024 and upper_bound(np.tile(differences, copies), level) >= 0:
        copies *= 2
    low = copies // 2
    for tried in range(low, copies, max(1, low // 8)):
        if upper_bound(np.tile(differences, tried), level) < 0:
            copies = tried
            break
    return int(round(copies * m, -1))
