"""One walk over everything that matters: C, the weight of the validation rows, which rows to drop.

Every candidate is judged on validation rows that had no part in it (``trials.py``), by the same
measure, in three steps:

1. **Nothing dropped.** C and the weight of the validation rows, each outwards from where it starts
   until it gets worse; the plainest that is as good as the best stays. Where training and
   validation rows look alike, or these are few, both judge C.
2. **Dropping.** For each ranking, ratios downwards from 1, each fit starting from its neighbour's,
   until the mean has been above the best twice in a row. At the best of them, the shares of the
   classes, C and the weight again: a C from before dropping can be worse than none. (Not where
   both have judged: the few validation rows would undo it.)
3. **The guard** (``guard.py``): nothing is dropped unless that is better beyond its uncertainty.

With ``choose.metric=accuracy`` all of this goes by the loss, which the rows tell much closer; then
any candidate that was tried takes the place of what came out if its accuracy is better beyond its
uncertainty.

What is given is not chosen: with the ratio alone left open this is step 2 for one sampler, and 3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from uids.errors import UidsError
from uids.models import AdoptedFitted, AdoptedModel
from uids.models.model import number_C
from uids.samplers.adopted import AdoptedSampler, adopt_sampler
from uids.scoring.influence import Influence
from uids.selection.candidate import Candidate, Judged
from uids.selection.measures import measure_name
from uids.selection.narrow import narrow
from uids.selection.reason import by_measure, explain
from uids.selection.settings import SelectionSettings
from uids.selection.trials import Trials
from uids.selection.walk import FEW, POOLED, Open, Walk
from uids.system.keys import AUTO


def left_open(model: AdoptedModel, sampler: AdoptedSampler, settings: SelectionSettings) -> Open:
    """What there is to choose; an error where there cannot be anything."""
    if settings.ratio == AUTO and settings.draw == "bernoulli" and not sampler.deterministic:
        raise UidsError(
            "draw=bernoulli does not use the ratio, so ratio=auto has nothing to choose"
        )
    if settings.validation_weight == AUTO and not (settings.with_validation or settings.auto):
        raise UidsError(
            f"validation_weight=auto has nothing to weigh with final={settings.final}, which is "
            "not fitted on the validation rows: use final=subset+validation, or final=auto"
        )
    return Open(
        ratio=settings.ratio == AUTO,
        sampler=len(sampler.alternatives()) > 1,
        alpha=sampler.alpha == AUTO,
        C=model.C == AUTO,
        stratify=settings.stratify == AUTO and not model.continuous,
        final=settings.final == AUTO,
        weight=settings.validation_weight == AUTO and settings.with_validation,
    )


@dataclass(frozen=True)
class Selection:
    """What was chosen, and how. ``tuned`` is the best that drops nothing, ``start`` what it all
    began from."""

    pick: Judged
    tuned: Judged
    start: Judged
    judged: list[Judged]
    pooled: list[Judged]  # of those without dropping, on rows of both kinds; none where not wanted
    open: Open
    reason: str
    not_tried: list[float]
    folds: int
    fits: int


def choose(
    model: AdoptedModel,
    sampler: AdoptedSampler,
    settings: SelectionSettings,
    full: AdoptedFitted,
    influence: Influence,
    seed: int,
    alike: bool = False,
) -> Selection:
    """From the fit at the start and its influence. Where the validation rows look ``alike`` the
    training rows, and so are no cleaner, a choice among samplers leaves out those that would need
    that."""
    wanted = left_open(model, sampler, settings)
    if len(influence.validation) < 2:
        word = next(name for name, is_open in vars(wanted).items() if is_open)
        word = {"alpha": "sampler.alpha", "C": "model.C", "weight": "validation_weight"}.get(
            word, word
        )
        raise UidsError(f"{word}=auto needs more than one validation row: raise split.validation")
    begun = model.at_C(number_C(AUTO)) if wanted.C else model
    full, influence = narrow(begun, full, influence)
    trials = Trials(begun, settings, full, influence, seed)
    samplers = rankings(sampler, alike, bool(influence.train.classes))
    walk = Walk(trials, settings, wanted, samplers, both_judge(influence, alike))
    start = walk.required(walk.start())
    pool = walk.pool()
    tuned = walk.tuned(pool, start)
    dropping = walk.drop(tuned)
    by_loss = walk.decide(tuned, dropping)
    metric = measure_name(settings.choose.metric, begun.loss_name)
    pick = walk.better_by(metric, by_loss)
    reason = explain(by_loss, tuned, start, dropping, settings.choose, trials.refused, alike)
    if metric != trials.metric:
        reason += by_measure(pick.by(metric), by_loss.by(metric), start.by(metric))
    judged = {key: each.by(metric) for key, each in trials.known.items()}
    tried = {each.candidate.ratio for each in trials.judged}
    return Selection(
        pick=judged[pick.candidate.key],
        tuned=judged[tuned.candidate.key],
        start=judged[start.candidate.key],
        judged=list(judged.values()),
        pooled=[] if pool is walk else pool.trials.judged,
        open=wanted,
        reason=reason,
        not_tried=[ratio for ratio in walk.ratios if ratio not in tried],
        folds=trials.folds,
        fits=trials.fits + (0 if pool is walk else pool.trials.fits),
    )


def tune_alone(
    model: AdoptedModel,
    settings: SelectionSettings,
    full: AdoptedFitted,
    influence: Influence,
    seed: int,
    alike: bool = False,
) -> Candidate | None:
    """Step 1 by itself, whatever is open: C and weight of the best that drops nothing and is fitted
    on the validation rows; None where it cannot be fitted. It is what dropping has to beat."""
    everything = replace(settings, ratio=1.0, final="full+validation", validation_weight=AUTO)
    has_C = isinstance(model.C, int | float)
    wanted = Open(False, False, False, has_C, False, False, True)
    full, influence = narrow(model, full, influence)
    trials = Trials(model, everything, full, influence, seed)
    judges = both_judge(influence, alike)
    walk = Walk(trials, everything, wanted, [adopt_sampler("random")], judges)
    pool = walk.pool()
    start = trials.at(walk.start())
    return None if start is None else walk.tuned(pool, start).candidate


def both_judge(influence: Influence, alike: bool) -> bool:
    """Whether training rows judge C too: where they look alike the validation rows, or these are
    too few to judge by themselves."""
    m = len(influence.validation)
    return m < FEW or (alike and m <= POOLED)


def rankings(sampler: AdoptedSampler, alike: bool, classes: bool = True) -> list[AdoptedSampler]:
    """The samplers to try; of several, those that the validation rows are good enough for, and
    without classes those that ask for none."""
    samplers = sampler.alternatives()
    if not classes:
        samplers = [each for each in samplers if not each.needs_classes] or samplers
    if not alike or len(samplers) == 1:
        return samplers
    return [each for each in samplers if not each.needs_trusted_rows] or samplers
