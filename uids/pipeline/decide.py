"""The stage that decides: fit, score, and choose what was left open."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uids.backends import Array
from uids.models import AdoptedFitted, AdoptedModel
from uids.models.model import number_C
from uids.pipeline import fit_cache
from uids.pipeline.clock import Clock
from uids.pipeline.components import Components
from uids.pipeline.kept import Kept
from uids.pipeline.settings import Settings
from uids.pipeline.stages import Loaded, Scored, fit_and_score
from uids.samplers.adopted import AdoptedSampler
from uids.scoring.labels import LabelAudit
from uids.scoring.scores import Scores
from uids.selection.candidate import Candidate
from uids.selection.choose import Selection, choose, left_open, tune_alone
from uids.selection.subset import draw_subset
from uids.selection.trials import fit_with
from uids.system.keys import AUTO
from uids.system.tuning import BASELINES, Baselines

# The weight of the validation rows in the model that tells which labels are wrong, where they are
# cleaner: the AUC for 20 % of wrong labels in one corner of the space is 0.79 with 1, 0.89 with 5.
AUDIT_WEIGHT = 5.0


@dataclass(frozen=True)
class Audit:
    """The model by which labels are audited: of all training rows, and of the validation rows with
    this weight. ``compared``: whether it is one of those that are compared, too."""

    model: AdoptedModel
    weight: float
    fitted: AdoptedFitted
    compared: bool


@dataclass(frozen=True)
class Decided:
    """The models that drop nothing, and how rows are to be kept and the last model to be made."""

    plain: Scored  # at the C that is given, or at which the walk over C begins
    scored: Scored  # at the C that is given or was chosen
    plain_model: AdoptedModel
    model: AdoptedModel
    sampler: AdoptedSampler
    ratio: float
    stratify: bool
    weight: float  # of each validation row in a model that has them
    final: str
    scores: Scores
    labels: LabelAudit | None  # of classes
    probability: Array  # π of each training row
    gradient_bound: float | None
    audit: Audit | None
    selection: Selection | None  # where something was left to choose
    tuned: Candidate | None  # C and weight of the best that drops nothing, where it was looked for

    @property
    def full(self) -> AdoptedFitted:
        return self.plain.full

    @property
    def is_plain(self) -> bool:
        """Whether C and the weight of the validation rows are those of the models beside it."""
        return self.model.C == self.plain_model.C and self.weight == 1

    @property
    def is_tuned(self) -> bool:
        """Whether they are those of the best that drops nothing."""
        if self.tuned is None or self.selection is None:
            return False
        pick = self.selection.pick.candidate
        return (self.tuned.C, self.tuned.weight) == (pick.C, pick.weight)

    @property
    def doubted(self) -> bool:
        """Whether rows are dropped by what trusts the validation rows, which look no cleaner."""
        drops = self.ratio < 1 and self.sampler.needs_trusted_rows
        return drops and self.plain.check.cleaner is False

    def of_all(self, loaded: Loaded, model: AdoptedModel, weight: float) -> AdoptedFitted:
        """The model of all rows, where the validation rows have this weight, to be compared: the
        audit's, where it is that."""
        audit = self.audit
        same = audit is not None and (audit.model.C, audit.weight) == (model.C, weight)
        if audit is not None and same and audit.compared:
            return audit.fitted
        return self.fit_all(loaded, model.rough(), weight)

    def fit_all(self, loaded: Loaded, model: AdoptedModel, weight: float) -> AdoptedFitted:
        """The same fitted, from the nearest model that there is."""
        audit = self.audit
        near = self.scored.full if model.C == self.model.C else self.full
        if audit is not None and (audit.model.C, audit.weight) == (model.C, weight):
            near = audit.fitted
        return fit_with(model, loaded.train, loaded.validation, None, weight, near)

    @property
    def phi(self) -> Array:
        return self.scored.influence.phi

    def loses_a_class(self, loaded: Loaded, settings: Settings) -> bool:
        """Whether the first draw has no training row of some class."""
        if self.ratio == 1 or not loaded.train.classes:
            return False
        how = self.sampler, self.ratio, settings.draw, self.stratify, settings.seed
        kept = draw_subset(self.probability, loaded.train, *how)[0].rows
        return len(np.unique(loaded.train.y[kept])) < len(np.unique(loaded.train.y))


def decide(
    parts: Components, settings: Settings, loaded: Loaded, clock: Clock, kept: Kept | None = None
) -> Decided:
    """``kept`` has the fit of the run before, perhaps the same. Nothing is dropped where the rows
    that are chosen would have lost a class, though none of the folds had: with validation rows and
    weights that make up for it."""
    decided = first_choice(parts, settings, loaded, clock, kept)
    is_open = settings.ratio == settings.final == AUTO
    if not is_open or not decided.loses_a_class(loaded, settings):
        return decided
    parts, settings = replace(parts, sampler=decided.sampler), replace(settings, ratio=1.0)
    decided = first_choice(parts, replace(settings, stratify=False), loaded, clock, kept)
    assert decided.selection is not None  # at least of the last fit
    why = "nothing is dropped, since no row of some class would be left"
    selection = replace(decided.selection, reason=f"{why}; {decided.selection.reason}")
    return replace(decided, selection=selection)


def first_choice(
    parts: Components, settings: Settings, loaded: Loaded, clock: Clock, kept: Kept | None
) -> Decided:
    wanted = left_open(parts.model, parts.sampler, settings)
    begun = replace(parts, model=parts.model.at_C(number_C(AUTO))) if wanted.C else parts
    plain = scored = first_fit(begun, settings, loaded, clock, kept)
    selection, tuned, model = None, None, begun.model
    candidate = given(settings, parts.sampler)
    if wanted:
        with clock.stage("choose"):
            selection = choose(
                parts.model,
                parts.sampler,
                settings,
                plain.full,
                plain.influence,
                settings.seed,
                plain.check.alike,
            )
        candidate = selection.pick.candidate
        if candidate.C not in (None, model.C):
            model = model.at_C(number_C(candidate.C or AUTO))
            at_C = replace(parts, model=model)
            scored = fit_and_score(at_C, settings, loaded, clock, start=plain.full)
    if selection is not None and wanted.C and wanted.weight and wanted.ratio:
        tuned = selection.tuned.candidate
    elif loaded.test is not None and worth_tuning(loaded, plain, bool(wanted)):
        with clock.stage("choose"):
            tuned = tuned_alone(begun, settings, plain, candidate)
    if selection is not None and is_tuning(candidate, begun):
        tuned = candidate
    with clock.stage("influence"):
        weight = audit_weight(plain, candidate)
        compared = loaded.test is not None and (model.C, weight) in rivals(begun.model, tuned)
        audit = reference(model, scored, loaded, weight, compared)
        scores = scored.scores(None if audit is None else audit.fitted)
        labels = scores.labels if loaded.train.classes else None
    with clock.stage("sample"):
        sampler = sampler_of(candidate, scores)
        probability, bound = sampler.probabilities(scores), sampler.gradient_bound(scores)
    return Decided(
        plain,
        scored,
        begun.model,
        model,
        sampler,
        candidate.ratio,
        candidate.stratify,
        candidate.weight or given_weight(settings),
        final_of(settings, selection),
        scores,
        labels,
        probability,
        bound,
        audit,
        selection,
        tuned,
    )


def is_tuning(candidate: Candidate, begun: Components) -> bool:
    """Whether a choice drops nothing and has another C or weight than a plain fit: then it is what
    tuning comes to, by the measure that was asked for."""
    changed = candidate.C not in (None, begun.model.C) or candidate.weight != 1
    return changed and candidate.weight > 0 and not candidate.drops


def sampler_of(candidate: Candidate, scores: Scores) -> AdoptedSampler:
    """With the α that was chosen, where one was."""
    if candidate.alpha is None:
        return candidate.sampler
    return candidate.sampler.at_alpha(candidate.alpha, scores)


def first_fit(
    parts: Components, settings: Settings, loaded: Loaded, clock: Clock, kept: Kept | None
) -> Scored:
    """From memory, where it is that of the run before."""
    if kept is None:
        return fit_and_score(parts, settings, loaded, clock)
    return kept.fit(parts, settings, loaded, lambda: fit_and_score(parts, settings, loaded, clock))


def tuned_alone(
    parts: Components, settings: Settings, plain: Scored, like: Candidate
) -> Candidate | None:
    """The best that drops nothing, from the cache where it is there."""
    place = fit_cache.tuned_place(plain.place, settings)
    known = fit_cache.load_tuned(place)
    if known is not None:
        return replace(like, ratio=1.0, C=known[0], weight=known[1])
    tuned = tune_alone(
        parts.model, settings, plain.full, plain.influence, settings.seed, plain.check.alike
    )
    if tuned is not None:
        fit_cache.save_tuned(place, tuned.C, tuned.weight)
    return tuned


def given(settings: Settings, sampler: AdoptedSampler) -> Candidate:
    """Where nothing is open."""
    ratio = 1.0 if isinstance(settings.ratio, str) else float(settings.ratio)
    weight = given_weight(settings) if settings.with_validation else 0.0
    return Candidate(sampler, ratio, None, None, settings.stratify is True, weight)


def given_weight(settings: Settings) -> float:
    weight = settings.validation_weight
    return 1.0 if isinstance(weight, str) else float(weight)


def final_of(settings: Settings, selection: Selection | None) -> str:
    """What the last model is fitted on. Left open it has the validation rows, and all training rows
    where nothing is to be dropped."""
    if settings.final != AUTO:
        return settings.final
    drops = selection is not None and selection.pick.candidate.drops
    return "subset+validation" if drops else "full+validation"


def audit_weight(plain: Scored, candidate: Candidate) -> float:
    """Of clean rows much, of others as of any row."""
    return max(AUDIT_WEIGHT, candidate.weight) if plain.check.cleaner else 1.0


def rivals(plain: AdoptedModel, tuned: Candidate | None) -> list[tuple[float | str | None, float]]:
    """C and the weight of the validation rows of the models of all rows that are compared."""
    found = [(plain.C, 1.0)]
    if tuned is not None:
        found.append((tuned.C or plain.C, tuned.weight))
    return found


def reference(
    model: AdoptedModel, scored: Scored, loaded: Loaded, weight: float, compared: bool
) -> Audit | None:
    """The model of all rows, by which a label can be told to be unlikely; of linear models only:
    others take long, and then θ̂ has to do."""
    if not scored.influence.curvature.linear:
        return None
    train, validation = loaded.train, loaded.validation
    fitting = model.rough() if compared else model.glance()
    fitted = fit_with(fitting, train, validation, None, weight, scored.full)
    return Audit(model, weight, fitted, compared)


def worth_tuning(
    loaded: Loaded, plain: Scored, chosen: bool, tuning: Baselines = BASELINES
) -> bool:
    """Whether the best that drops nothing is looked for, only to be compared with: where something
    is chosen anyway, or the data are so small that it takes no time."""
    stored = loaded.train.X.stored + loaded.validation.X.stored
    linear = plain.influence.curvature.linear
    return len(loaded.validation) > 1 and linear and (chosen or stored <= tuning.tuned_entries)
