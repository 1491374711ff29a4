"""How many rows to keep, and how steep π should be, chosen by cross-fitting.

Every candidate (a ratio, perhaps with an α) is judged on validation rows that its φ has not seen
(``uids/scoring/crossfit.py``): for each fold the subset is drawn by φ of the other folds and
refitted, and its loss on each row of the fold is compared with that of the full set, row by row:

    Δ_j = l_j(θ_candidate) − l_j(θ̂),   one for each validation row j.

The full set stays unless a candidate's gain is beyond its uncertainty (``guard.py``). Of the
candidates that pass, the one with the smallest mean is taken.

Ratios are tried downwards from 1, each fit starting from its neighbour's, until the mean has been
above the best twice in a row: what lies beyond is not judged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uids.backends import Array
from uids.errors import ComponentError, UidsError
from uids.models import AdoptedFitted, AdoptedModel, Rows
from uids.samplers.adopted import AUTO, AdoptedSampler
from uids.scoring.crossfit import Fold, crossfit
from uids.scoring.influence import Influence
from uids.scoring.scores import Scores
from uids.selection.guard import Judged, explain, guarded
from uids.selection.settings import SelectionSettings
from uids.selection.subset import draw_subset
from uids.system.progress import tell

FOLDS = ((1000, 8), (np.inf, 4))  # up to so many validation rows; more folds cost more fits
PATIENCE = 2  # ratios in a row that are worse than the best, after which a walk ends


@dataclass(frozen=True)
class Selection:
    """What was chosen, and how."""

    ratio: float
    sampler: AdoptedSampler
    judged: list[Judged]
    reason: str
    not_tried: list[float]
    folds: int
    alpha_chosen: bool


def is_wanted(sampler: AdoptedSampler, settings: SelectionSettings) -> bool:
    """Whether there is anything to choose; an error where there cannot be."""
    if settings.ratio == AUTO and settings.draw == "bernoulli" and not sampler.deterministic:
        raise UidsError(
            "draw=bernoulli does not use the ratio, so ratio=auto has nothing to choose"
        )
    return settings.ratio == AUTO or sampler.alpha == AUTO


def choose(
    model: AdoptedModel,
    sampler: AdoptedSampler,
    settings: SelectionSettings,
    full: AdoptedFitted,
    influence: Influence,
    seed: int,
) -> Selection:
    """The ratio, and the sampler with its α, for the scores of all validation rows."""
    train, validation = influence.train, influence.validation
    m = len(validation)
    if m < 2:
        word = "ratio=auto" if settings.ratio == AUTO else "sampler.alpha=auto"
        raise UidsError(f"{word} needs more than one validation row: raise split.validation")
    count = settings.choose.folds or next(folds for most, folds in FOLDS if m <= most)
    folds = crossfit(full, influence, min(count, m), seed)
    base = full.losses(validation)
    ratios, alphas = candidates(sampler, settings)
    walk = Walk(model, sampler, settings, train, folds, seed, base)
    for i, alpha in enumerate(alphas):
        walk.down(full, ratios, alpha, i * len(ratios), len(alphas) * len(ratios))
    judged = walk.judged
    if settings.ratio == AUTO:
        pick = guarded(judged, settings.choose)
        reason = explain(judged, pick, settings.choose, float(base.mean()), walk.ends)
        everything = Judged(1.0, None, np.zeros(len(base)))
        judged, point = [everything, *judged], pick or everything
    else:
        point = min(judged, key=lambda each: each.mean)
        reason = f"ratio={settings.ratio} is given; α has the smallest held-out loss of those tried"
    if point.alpha is None and alphas != [None]:
        tried = [each.alpha for each in judged if each.alpha is not None] or alphas
        point = dataclasses.replace(point, alpha=tried[0])  # every row is kept: any α does
    if point.alpha is not None:
        scores = Scores(influence.phi, full.losses(train), train.y, influence)
        sampler = sampler.at_alpha(point.alpha, scores)
    tried_ratios = {each.ratio for each in judged}
    return Selection(
        point.ratio,
        sampler,
        judged,
        reason,
        [ratio for ratio in ratios if ratio not in tried_ratios],
        len(folds),
        alphas != [None],
    )


def candidates(
    sampler: AdoptedSampler, settings: SelectionSettings
) -> tuple[list[float], Sequence[float | None]]:
    """The ratios, from the largest down, and the values of α; [None] where α is given."""
    alphas = list(settings.choose.alphas) if sampler.alpha == AUTO else [None]
    if settings.ratio != AUTO:
        return [float(settings.ratio)], alphas
    return sorted({ratio for ratio in settings.choose.ratios if ratio < 1}, reverse=True), alphas


@dataclass(frozen=True)
class Walk:
    """Down the ratios, each fit starting from its neighbour's. ``base`` are the losses of the full
    set, one for each validation row; what is judged is added to ``judged``."""

    model: AdoptedModel
    sampler: AdoptedSampler
    settings: SelectionSettings
    train: Rows
    folds: Sequence[Fold]
    seed: int
    base: Array
    judged: list[Judged] = dataclasses.field(default_factory=list)
    ends: list[str] = dataclasses.field(default_factory=list)  # why a walk ended early

    def down(
        self,
        full: AdoptedFitted,
        ratios: Sequence[float],
        alpha: float | None,
        done: int,
        total: int,
    ) -> None:
        """Until the mean has been above the best PATIENCE times in a row."""
        free = self.settings.ratio == AUTO
        starts = [full] * len(self.folds)
        misses, best = 0, 0.0 if free else np.inf
        for ratio in ratios:
            tell("choose", done, total)
            done += 1
            try:
                losses = self.held_out(alpha, ratio, starts)
            except ComponentError:
                raise
            except UidsError as error:
                if not free:
                    raise
                self.ends.append(str(error))  # most likely of too few rows: no candidate
                break
            judged = Judged(ratio, alpha, losses - self.base)
            self.judged.append(judged)
            misses = misses + 1 if judged.mean > best else 0
            best = min(best, judged.mean)
            if misses == PATIENCE:
                break

    def held_out(self, alpha: float | None, ratio: float, starts: list[AdoptedFitted]) -> Array:
        """The loss of each validation row under the model that its fold had no part in; a mean over
        draws where the sampler leaves something to chance. ``starts`` are moved on to the new
        fits."""
        losses = np.zeros(len(self.base))
        for k, fold in enumerate(self.folds):
            sampler = self.sampler if alpha is None else self.sampler.at_alpha(alpha, fold.scores)
            pi = sampler.probabilities(fold.scores)
            draws = 1 if sampler.deterministic else self.settings.choose.draws
            for repeat in range(draws):
                seed = self.seed + repeat
                drawn, weights = draw_subset(pi, self.train, sampler, ratio, self.settings, seed)
                fitted = self.model.fit(self.train.take(drawn.rows), weights, start=starts[k])
                losses[fold.index] += fitted.losses(fold.held) / draws
            starts[k] = fitted
        return losses
