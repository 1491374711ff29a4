"""The stage that draws and refits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from uids.models import AdoptedFitted
from uids.pipeline.clock import Clock
from uids.pipeline.decide import Decided
from uids.pipeline.settings import Settings
from uids.pipeline.stages import Loaded
from uids.selection.draw import Draw
from uids.selection.subset import draw_subset
from uids.selection.trials import fit_with


@dataclass(frozen=True)
class Refit:
    """One draw, the model of its rows, that of its rows and the validation rows, and the one to
    use."""

    seed: int
    drawn: Draw
    subset: AdoptedFitted
    joined: AdoptedFitted | None
    final: AdoptedFitted
    repeat: int
    repeats: int


def refits(
    settings: Settings, loaded: Loaded, decided: Decided, clock: Clock, compared: bool
) -> Iterator[Refit]:
    """A draw and its models for each repeat; without chance all draws are the first.

    The model with the validation rows is fitted where it is ``compared`` or final; to the last
    digit only where it is final.
    """
    count = 1 if decided.sampler.deterministic else settings.repeats
    with clock.stage("refit", 0, count):
        fixed = full_final(loaded, decided)
    for repeat in range(count):
        seed = settings.seed + repeat
        with clock.stage("sample", repeat, count):
            drawn, weights = draw_subset(
                decided.probability,
                loaded.train,
                decided.sampler,
                decided.ratio,
                settings.draw,
                decided.stratify,
                seed,
            )
            rows = loaded.train.take(drawn.rows)
        is_final = decided.final == "subset+validation"
        with clock.stage("refit", repeat, count):
            subset, joined = decided.model.fit(rows, weights, start=decided.scored.full), None
            if compared or is_final:
                model = decided.model if is_final else decided.model.rough()
                joined = fit_with(model, rows, loaded.validation, weights, decided.weight, subset)
        final = fixed or (joined if is_final and joined is not None else subset)
        yield Refit(seed, drawn, subset, joined, final, repeat, count)


def full_final(loaded: Loaded, decided: Decided) -> AdoptedFitted | None:
    """The model to use where that has all training rows."""
    if decided.final == "full":
        return decided.scored.full
    if decided.final == "full+validation":
        return decided.fit_all(loaded, decided.model, decided.weight)
    return None
