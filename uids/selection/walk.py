"""The steps of a walk over what is left open; see ``choose.py`` for their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from uids.errors import UidsError
from uids.models import LOGLOSS
from uids.samplers.adopted import AdoptedSampler
from uids.selection.candidate import Candidate, Judged
from uids.selection.guard import guarded, plainest
from uids.selection.settings import SelectionSettings
from uids.selection.trials import Trials

PATIENCE = 2  # ratios in a row that are worse than the best, after which a walk ends
POOLED = 1_000  # validation rows, beyond which they judge well enough by themselves
FEW = 100  # validation rows, below which they cannot judge C, and hardly what to drop
FEW_LEVEL = 0.05  # at which such few rows have to be sure
CARE = 0.5  # standard errors: a C or a weight that is better by less is left for a plainer one
FEW_CARE = 2.0  # the same where validation rows are few
ROUNDING = 1e-6  # of a measure: fits that are only judged are no more exact
ROUNDS = 2  # how often C and the weight are gone through in turn


@dataclass(frozen=True)
class Open:
    """What is left to the choice."""

    ratio: bool
    sampler: bool
    alpha: bool
    C: bool
    stratify: bool
    final: bool
    weight: bool

    def __bool__(self) -> bool:
        return any(vars(self).values())


@dataclass(frozen=True)
class Walk:
    """The three steps over what is open."""

    trials: Trials
    settings: SelectionSettings
    open: Open
    samplers: Sequence[AdoptedSampler]
    both_judge: bool = False  # training rows too, of C, which is then left alone

    @property
    def ratios(self) -> list[float]:
        """From the largest down."""
        if not self.open.ratio:
            return [float(self.settings.ratio)]
        return sorted({ratio for ratio in self.settings.choose.ratios if ratio < 1}, reverse=True)

    @property
    def alphas(self) -> Sequence[float | None]:
        return self.settings.choose.alphas if self.open.alpha else [None]

    def start(self) -> Candidate:
        """The plainest: nothing dropped unless a ratio is given, what is open at its start."""
        weight, stratify = self.settings.validation_weight, self.settings.stratify
        return Candidate(
            sampler=self.samplers[0],
            ratio=1.0 if self.open.ratio else float(self.settings.ratio),
            alpha=self.alphas[0],
            C=self.trials.start_C if self.open.C else None,
            stratify=False if self.open.stratify else stratify is True,
            weight=0.0
            if not self.settings.with_validation
            else 1.0
            if isinstance(weight, str)
            else float(weight),
        )

    @property
    def few(self) -> bool:
        return len(self.trials.influence.validation) < FEW

    def pool(self) -> Walk:
        """The walk in which training rows judge too, where they do and it is of any use."""
        wanted = self.both_judge and (self.open.C or self.open.weight)
        if not wanted or self.start().drops:
            return self
        old = self.trials
        trials = Trials(old.model, old.settings, old.full, old.influence, old.seed, pooled=True)
        return replace(self, trials=trials)

    def required(self, candidate: Candidate) -> Judged:
        judged = self.trials.at(candidate)
        if judged is None:
            raise UidsError(self.trials.refused[-1])
        return judged

    def tuned(self, pool: Walk, start: Judged) -> Judged:
        """The best with the rows as they are. Where training rows judge too, they judge C; the
        weight of the validation rows is theirs to judge, unless they are few: that rows look alike
        does not mean that they are."""
        if pool is self:
            return self.tune(start)
        both = pool if self.few else replace(pool, open=replace(self.open, weight=False))
        at_C = self.required(both.tune(both.required(start.candidate)).candidate)
        if self.few or not self.open.weight:
            return at_C
        return replace(self, open=replace(self.open, C=False)).tune(at_C)

    def tune(self, start: Judged) -> Judged:
        """C and the weight, with the rows as they are at the start: along the one and then the
        other, in either order, since a weight raises the sum of all weights too and can be taken
        for the C that is wanting. Of all that was tried, the plainest that is as good as the best.
        """
        before = set(self.trials.known)
        self.turns(start, ("C", "weight"))
        self.turns(start, ("weight", "C"))
        tried = [j for key, j in self.trials.known.items() if key not in before or j is start]
        return self.plainest([each for each in tried if each.mean <= start.mean])

    def turns(self, best: Judged, axes: tuple[str, str]) -> Judged:
        """Along the axes in turn, those that are open, until neither moves."""
        lines = {"C": self.settings.choose.Cs, "weight": self.settings.choose.weights}
        is_open = {"C": self.open.C, "weight": self.open.weight}
        for _ in range(ROUNDS):
            before = best
            for axis in axes:
                if is_open[axis]:
                    best = self.along(best, axis, lines[axis])
            if best is before:
                break
        return best

    def along(self, first: Judged, axis: str, values: Sequence[float]) -> Judged:
        """Upwards, or else downwards, until it gets worse; then back to the plainest value that is
        as good as the best of them. C is not lowered by judges whose labels may be wrong: those
        reward a model for being unsure, which clean rows then pay for."""
        here = first.candidate.weight if axis == "weight" else first.candidate.C
        assert here is not None
        line = sorted({*values, here})
        unsure = axis == "C" and self.both_judge and self.trials.metric == LOGLOSS
        for step in (1,) if unsure else (1, -1):
            passed, place = [first], line.index(here) + step
            while 0 <= place < len(line):
                value, last = line[place], passed[-1].candidate
                weighted = axis == "weight"
                candidate = replace(last, weight=value) if weighted else replace(last, C=value)
                judged = self.trials.at(candidate, near=last)
                if judged is None or judged.mean >= passed[-1].mean:
                    break
                passed.append(judged)
                place += step
            if len(passed) > 1:
                return self.plainest(passed)
        return first

    def plainest(self, judged: Sequence[Judged]) -> Judged:
        return plainest(judged, self.steps, FEW_CARE if self.few else CARE)

    def steps(self, candidate: Candidate) -> float:
        """How far C and the weight are from where they start, in places of their lists."""
        start = self.start()
        count = 0
        for values, here, there in (
            (self.settings.choose.Cs, candidate.C, start.C),
            (self.settings.choose.weights, candidate.weight, start.weight),
        ):
            if here is not None and there is not None:
                line = sorted({*values, here, there})
                count += abs(line.index(here) - line.index(there))
        return count

    def drop(self, tuned: Judged) -> list[Judged]:
        """Every candidate that drops rows, or chooses how: none where that is not open."""
        dropping: list[Judged] = []
        if self.open.ratio or self.open.sampler or self.open.alpha:
            for sampler in self.samplers:
                for alpha in self.alphas:
                    first = replace(tuned.candidate, sampler=sampler, alpha=alpha)
                    dropping += self.down(tuned, first)
        elif tuned.candidate.drops:
            dropping.append(tuned)
        if not dropping:
            return []
        best = min(dropping, key=lambda each: each.mean)
        if self.open.stratify:
            other = self.trials.at(replace(best.candidate, stratify=True), near=best.candidate)
            if other is not None:
                dropping.append(other)
                best = min(best, other, key=lambda each: each.mean)
        if (best.mean < tuned.mean and not self.both_judge) or not self.open.ratio:
            known = set(self.trials.known)
            self.turns(best, ("C", "weight"))
            dropping += [j for key, j in self.trials.known.items() if key not in known]
        return [each for each in dropping if each.candidate.drops or not self.open.ratio]

    def down(self, tuned: Judged, first: Candidate) -> list[Judged]:
        """Ratios downwards, until the mean has been above the best PATIENCE times in a row."""
        misses, best, near = 0, tuned.mean, tuned.candidate
        judged: list[Judged] = []
        for ratio in self.ratios:
            each = self.trials.at(replace(first, ratio=ratio), near=near)
            if each is None:
                break  # most likely of too few rows: no candidate
            judged.append(each)
            near = each.candidate
            misses = misses + 1 if each.mean > best else 0
            best = min(best, each.mean)
            if misses == PATIENCE:
                break
        return judged

    @property
    def level(self) -> float:
        """At which a gain has to be sure."""
        level = self.settings.choose.level
        return min(level, FEW_LEVEL) if self.few else level

    def decide(self, tuned: Judged, dropping: Sequence[Judged]) -> Judged:
        if self.open.ratio:
            return guarded(dropping, tuned, self.level, wrong_labels=self.few) or tuned
        if not dropping:
            if self.trials.refused:
                raise UidsError(self.trials.refused[-1])
            return tuned
        best = min(dropping, key=lambda each: each.mean)
        return best if best.mean < (1 - ROUNDING) * tuned.mean else tuned

    def better_by(self, metric: str, pick: Judged) -> Judged:
        """What was tried and is better than the pick by this measure beyond its uncertainty; the
        pick where nothing is, or where it is the measure of the walk."""
        if metric == self.trials.metric:
            return pick
        drops = pick.candidate.drops
        tried = [j for j in self.trials.judged if self.open.ratio or j.candidate.drops == drops]
        better = guarded([each.by(metric) for each in tried], pick.by(metric), self.level)
        return pick if better is None else self.trials.known[better.candidate.key]
