"""Candidates tried on validation rows that had no part in them.

The validation rows are shared out to folds. For each fold that judges, a candidate's training rows
are chosen by what the *other* folds say (``uids/scoring/crossfit.py``), its model is fitted on them
and, where it has the validation rows too, on those of the other folds, and judged on the fold. So
what is judged is what the last model would be, but for the rows of one fold.

Where training and validation rows look alike, the training rows can judge too what drops none of
them: they are shared out to the folds as well, and each judges under the model without its fold
(``pooled``). Several times as many rows make a choice of C several times as sure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from uids.backends import Array
from uids.errors import ComponentError, UidsError
from uids.models import AdoptedFitted, AdoptedModel, Rows, stacked
from uids.scoring.crossfit import Fold, Indices, crossfit, fold_numbers
from uids.scoring.influence import Influence
from uids.selection.candidate import Candidate, HeldOut, Judged
from uids.selection.measures import walk_measure
from uids.selection.settings import SelectionSettings
from uids.selection.subset import draw_subset
from uids.system.progress import tell

# Up to so many validation rows, so many folds: more cost more fits.
FOLDS = ((1_000, 8), (10_000, 4))
# Beyond that one part of so many rows judges: their mean is sure enough, and one fit does.
JUDGES = 10_000


def fold_count(m: int, wanted: int | None) -> tuple[int, int]:
    """(folds, how many of them judge) for m validation rows."""
    if wanted is not None:
        folds = min(wanted, m)
        return folds, folds
    for most, folds in FOLDS:
        if m <= most:
            return min(folds, m), min(folds, m)
    return m // JUDGES + 1, 1


@dataclass
class Trials:
    """Tries each candidate once. ``full`` and ``influence`` are those of the model as it starts."""

    model: AdoptedModel
    settings: SelectionSettings
    full: AdoptedFitted
    influence: Influence
    seed: int
    pooled: bool = False  # training rows judge too
    known: dict[tuple[object, ...], Judged] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)  # why candidates could not be fitted
    fits: int = 0
    _plain: dict[tuple[object, ...], list[AdoptedFitted]] = field(default_factory=dict)
    _last: list[AdoptedFitted] = field(default_factory=list)
    _folds: dict[float | None, list[Fold]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        m = len(self.influence.validation)
        self.folds, self.judging = fold_count(m, self.settings.choose.folds)

    @property
    def metric(self) -> str:
        """By which candidates are compared on the way."""
        return walk_measure(self.settings.choose.metric, self.model.loss_name)

    @property
    def start_C(self) -> float | None:
        """That of the model before anything is chosen."""
        C = self.model.C
        return None if C is None or isinstance(C, str) else float(C)

    @property
    def judged(self) -> list[Judged]:
        """In the order in which they were tried."""
        return list(self.known.values())

    def at(self, candidate: Candidate, near: Candidate | None = None) -> Judged | None:
        """The candidate on held-out rows, its fits starting from those of ``near`` where that was
        the last; None where it cannot be fitted, as with no row left of a class."""
        key = candidate.key
        if key not in self.known:
            tell("choose", len(self.known), len(self.known) + 1)
            try:
                self.known[key] = self._try(candidate, near)
            except ComponentError:
                raise
            except UidsError as error:
                self.refused.append(str(error))
                return None
        return self.known[key]

    def _try(self, candidate: Candidate, near: Candidate | None) -> Judged:
        model = self.model if candidate.C is None else self.model.at_C(candidate.C)
        model = model.rough()  # fits that are only judged: some two Newton steps from a neighbour
        folds = self._scored(candidate.C if candidate.drops else self.start_C)
        starts = self._starts(candidate, near)
        fits: list[AdoptedFitted] = []
        parts: list[HeldOut] = []
        for k, fold in enumerate(folds):
            held = self._held(fold, k)
            draws = [
                self._fit(model, candidate, fold, k, starts[k], draw)
                for draw in range(self._draws(candidate))
            ]
            fits.append(draws[-1])
            parts.append(HeldOut.mean([HeldOut.of(fitted, held) for fitted in draws]))
        if not candidate.drops:
            self._plain[candidate.key] = fits
        self._last = fits
        return Judged(candidate, HeldOut.joined(parts), self.metric)

    def _draws(self, candidate: Candidate) -> int:
        chance = candidate.drops and not candidate.sampler.deterministic
        return self.settings.choose.draws if chance else 1

    def _starts(self, candidate: Candidate, near: Candidate | None) -> list[AdoptedFitted]:
        """Fits to begin from, one for each fold: of the neighbour, or of the full set."""
        if near is not None and near.key in self._plain:
            return self._plain[near.key]
        plain = self._plain.get(candidate.without_dropping().key)
        if near is not None and self._last:
            return self._last
        return plain or [self.full] * self.judging

    def _fit(
        self,
        model: AdoptedModel,
        candidate: Candidate,
        fold: Fold,
        k: int,
        start: AdoptedFitted,
        draw: int,
    ) -> AdoptedFitted:
        train, weights = self.influence.train, None
        if candidate.drops:
            scores = replace(fold.scores, reference=self._reference(candidate, k))
            sampler = candidate.sampler
            if candidate.alpha is not None:
                sampler = sampler.at_alpha(candidate.alpha, scores)
            drawn, weights = draw_subset(
                sampler.probabilities(scores),
                train,
                sampler,
                candidate.ratio,
                self.settings.draw,
                candidate.stratify,
                self.seed + draw,
            )
            if train.classes:
                refuse_lost_classes(train.y, drawn.rows)
            train = train.take(drawn.rows)
        elif self.pooled:
            train = train.take(np.flatnonzero(self._shares != k))
        self.fits += 1
        if candidate.weight == 0:
            return model.fit(train, weights, start=start)
        return fit_with(model, train, fold.others, weights, candidate.weight, start)

    @cached_property
    def _shares(self) -> Indices:
        """Which fold each training row is in, where they judge."""
        return fold_numbers(self.influence.train.strata, self.folds, self.seed)

    def _held(self, fold: Fold, k: int) -> Rows:
        """The rows that judge."""
        if not self.pooled:
            return fold.held
        train = self.influence.train
        return stacked(fold.held, train.take(np.flatnonzero(self._shares == k)))

    def _reference(self, candidate: Candidate, k: int) -> AdoptedFitted | None:
        """The model of all training rows and the validation rows of the other folds, by which a row
        can be told to be unlikely; None without validation rows in it: then θ̂ tells."""
        if candidate.weight == 0:
            return None
        plain = candidate.without_dropping()
        if plain.key not in self._plain:
            self.at(plain)
        return self._plain[plain.key][k]

    def _scored(self, C: float | None) -> list[Fold]:
        """The folds that judge, with the scores at θ̂ of this C; those of the last C are kept."""
        if C not in self._folds:
            full, influence = self.full, self.influence
            if self.start_C != C and C is not None:
                full = self.model.at_C(C).fit(influence.train, start=self.full)
                self.fits += 1
                # φ of all validation rows is not asked for: crossfit makes those of the folds.
                influence = replace(influence, curvature=full.curvature(influence.train))
            kept = {key: value for key, value in self._folds.items() if key == self.start_C}
            self._folds = {
                **kept,
                C: crossfit(full, influence, self.folds, self.seed, self.judging),
            }
        return self._folds[C]


def refuse_lost_classes(y: Array, kept: Array) -> None:
    """A subset without a class is no candidate: validation rows alone would stand for it, and the
    model of the subset, which is shown beside it, could not be fitted."""
    lost = np.setdiff1d(y, y[kept])
    if len(lost):
        raise UidsError(f"no training row of class number {lost[0]} would be kept")


def fit_with(
    model: AdoptedModel,
    rows: Rows,
    validation: Rows,
    weights: Array | None,
    weight: float,
    start: AdoptedFitted | None,
) -> AdoptedFitted:
    """The model of ``rows`` and the validation rows, each of which has the ``weight``."""
    if weights is not None or weight != 1:
        ones = np.ones(len(rows)) if weights is None else weights
        weights = np.concatenate([ones, np.full(len(validation), weight)])
    return model.fit(stacked(rows, validation), weights, start=start)
