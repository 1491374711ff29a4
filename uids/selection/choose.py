"""How many rows to keep, and how steep π should be, chosen by cross-fitting.

Every candidate (a ratio, perhaps with an α) is judged on validation rows that its φ has not seen
(``uids/scoring/crossfit.py``): for each fold the subset is drawn by φ of the other folds and
refitted, and its loss on each row of the fold is compared with that of the full set, row by row:

    Δ_j = l_j(θ_candidate) − l_j(θ̂),   one for each validation row j.

**The guard.** The full set stays unless a candidate's gain is beyond its uncertainty: the upper
end of a one-sided t interval of the mean of Δ, at ``level``, must lie below 0. With few rows a t
interval is too short, since the rows that dropping would harm most may not be among them. So the
interval also counts UNSEEN imaginary rows, each harmed by as much as any row's loss changed: that
is hard to outweigh for 30 rows, and does not matter for 1,000. Of the candidates that pass, the one
with the smallest mean is taken.

Ratios are tried downwards from 1, each fit starting from its neighbour's, until the mean has been
above the best twice in a row: what lies beyond is not judged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uids.backends import Array
from uids.errors import UidsError
from uids.models import Fitted, Rows
from uids.pipeline.settings import ChooseSettings, Settings
from uids.scoring.crossfit import Fold, crossfit
from uids.scoring.influence import Influence
from uids.scoring.scores import Scores
from uids.selection.subset import draw_subset, is_deterministic, probabilities

AUTO = "auto"
UNSEEN = 3  # imaginary rows of the guard: no row of n harmed leaves 3 / n that may be, at 95 %
FOLDS = ((1000, 8), (np.inf, 4))  # up to so many validation rows; more folds cost more fits
PATIENCE = 2  # ratios in a row without a new best, after which a walk ends
WORTH = 0.005  # of the full set's loss: a gain that a person would want to know of


@dataclass(frozen=True)
class Judged:
    """One candidate: its paired differences Δ, one a validation row."""

    ratio: float
    alpha: float | None  # in the sampler's own unit
    differences: Array

    @property
    def mean(self) -> float:
        return float(self.differences.mean())

    @property
    def standard_error(self) -> float:
        return standard_error(self.differences)


@dataclass(frozen=True)
class Selection:
    """What was chosen, and for the metrics how."""

    ratio: float
    sampler: Any
    told: dict[str, Any]


def wanted(sampler: Any, settings: Settings) -> bool:
    """Whether there is anything to choose; an error where there cannot be."""
    if settings.ratio == AUTO and settings.draw == "bernoulli" and not is_deterministic(sampler):
        raise UidsError("draw=bernoulli does not use the ratio, so that ratio=auto has no choice")
    return settings.ratio == AUTO or getattr(sampler, "alpha", None) == AUTO


def choose(
    model: Any,
    sampler: Any,
    settings: Settings,
    full: Fitted,
    found: Influence,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Selection:
    """The ratio, and the sampler with its α, for the scores of all validation rows."""
    train, validation, chosen = found.train, found.validation, settings.choose
    m = len(validation)
    if m < 2:
        raise UidsError("ratio=auto needs more than one validation row: raise split.validation")
    count = chosen.folds or next(folds for most, folds in FOLDS if m <= most)
    folds = crossfit(full, found, min(count, m), settings.seed)
    base = full.losses(validation)
    ratios = list(chosen.ratios) if settings.ratio == AUTO else [float(settings.ratio)]
    ratios = sorted({ratio for ratio in ratios if ratio < 1 or settings.ratio != AUTO})[::-1]
    alphas = list(chosen.alphas) if getattr(sampler, "alpha", None) == AUTO else [None]
    judged: list[Judged] = []
    for i, alpha in enumerate(alphas):
        starts: list[Any] = [full] * len(folds)
        misses, best = 0, 0.0 if settings.ratio == AUTO else np.inf
        for j, ratio in enumerate(ratios):
            progress(i * len(ratios) + j, len(alphas) * len(ratios))
            try:
                losses = held_out(model, sampler, alpha, ratio, settings, train, folds, starts)
            except UidsError:
                if settings.ratio != AUTO:
                    raise
                break  # so few rows that nothing can be fitted to them: no candidate
            judged.append(Judged(ratio, alpha, losses - base))
            misses = misses + 1 if judged[-1].mean > best else 0
            best = min(best, judged[-1].mean)
            if misses == PATIENCE:
                break
    if settings.ratio == AUTO:
        pick = guarded(judged, chosen)
        reason = explain(judged, pick, chosen, float(base.mean()))
        judged.insert(0, Judged(1.0, None, np.zeros(len(base))))
        point = judged[0] if pick is None else pick
    else:
        point = min(judged, key=lambda each: each.mean)
        reason = f"ratio={settings.ratio} is given; α has the smallest held-out loss of those tried"
    if point.alpha is None and alphas != [None]:
        alphas_left = [each.alpha for each in judged if each.alpha is not None] or alphas
        point = dataclasses.replace(point, alpha=alphas_left[0])  # every row is kept: any α does
    last = at_alpha(sampler, point.alpha, Scores(found.phi, full.losses(train), train.y, found))
    told: dict[str, Any] = {
        "grid": [each.ratio for each in judged],
        "mean": [each.mean for each in judged],
        "standard_error": [each.standard_error for each in judged],
        "chosen": point.ratio,
        "reason": reason,
        "not_tried": [ratio for ratio in ratios if ratio not in {each.ratio for each in judged}],
        "folds": len(folds),
    }
    if alphas != [None]:
        told |= {"alpha": [each.alpha for each in judged], "chosen_alpha": last.alpha}
    return Selection(point.ratio, last, told)


def held_out(
    model: Any,
    sampler: Any,
    alpha: float | None,
    ratio: float,
    settings: Settings,
    train: Rows,
    folds: Sequence[Fold],
    starts: list[Any],
) -> Array:
    """The loss of each validation row under the model that its fold had no part in; a mean over
    draws where the sampler leaves something to chance. ``starts`` are moved on to the new fits."""
    losses = np.zeros(sum(len(fold.index) for fold in folds))
    for k, fold in enumerate(folds):
        exact = at_alpha(sampler, alpha, fold.scores)
        pi = probabilities(exact, fold.scores)
        draws = 1 if is_deterministic(exact) else settings.choose.draws
        for repeat in range(draws):
            drawn, weights = draw_subset(pi, train, exact, ratio, settings, settings.seed + repeat)
            fitted = model.fit(train.take(drawn.rows), weights, start=starts[k])
            losses[fold.index] += fitted.losses(fold.held) / draws
        starts[k] = fitted
    return losses


def at_alpha(sampler: Any, alpha: float | None, scores: Scores) -> Any:
    """The sampler with its α as a number. α is tried in the unit that the sampler names by
    ``alpha_unit(scores)``, where it has one: such a unit makes one list do for every φ."""
    if alpha is None:
        return sampler
    unit = sampler.alpha_unit(scores) if hasattr(sampler, "alpha_unit") else 1.0
    return dataclasses.replace(sampler, alpha=alpha * unit)


def standard_error(differences: Array) -> float:
    m = len(differences)
    return float(differences.std(ddof=1) / np.sqrt(m)) if m > 1 else 0.0


def upper_bound(differences: Array, level: float) -> float:
    """The upper end of the guard's interval; below 0, the gain is beyond its uncertainty."""
    from scipy.stats import t

    largest = np.abs(differences).max()
    seen = np.concatenate([differences, np.full(UNSEEN, largest)])
    return float(seen.mean() + t.ppf(1 - level, len(seen) - 1) * standard_error(seen))


def guarded(judged: Sequence[Judged], settings: ChooseSettings) -> Judged | None:
    """The candidate to take; None for the full set."""
    passed = [each for each in judged if upper_bound(each.differences, settings.level) < 0]
    return min(passed, key=lambda each: each.mean, default=None)


def explain(
    judged: Sequence[Judged], pick: Judged | None, settings: ChooseSettings, loss: float
) -> str:
    """One sentence: why this point, or why none."""
    if not judged:
        return "the full set stays: no smaller subset could be fitted"
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
