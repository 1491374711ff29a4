"""The stages of a run, each a function with a frozen result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from uids.backends import AdoptedBackend, Array, Matrix
from uids.datasets.split import Part, Split, split
from uids.models import AdoptedFitted, Rows
from uids.pipeline import fit_cache
from uids.pipeline.baselines import fit_with
from uids.pipeline.clock import Clock
from uids.pipeline.components import Components
from uids.pipeline.describe import (
    describe_check,
    describe_data,
    describe_influence,
    describe_selection,
)
from uids.pipeline.metrics import (
    DatasetMetrics,
    InfluenceMetrics,
    SelectionMetrics,
    ValidationCheckMetrics,
)
from uids.pipeline.settings import Settings
from uids.samplers.adopted import AdoptedSampler
from uids.scoring.influence import Influence, influence_at
from uids.scoring.scores import Scores
from uids.scoring.validation_check import ValidationCheck, check_validation
from uids.selection.choose import choose, is_wanted
from uids.selection.draw import Draw
from uids.selection.subset import draw_subset


@dataclass(frozen=True)
class Loaded:
    """The rows through the backend, and where they come from."""

    train: Rows
    validation: Rows
    test: Rows | None
    row: Array  # of each training row its number in the user's file
    validation_row: Array  # the same, where the validation rows are of the training file; or none
    labels: Array  # the original label of each class
    flipped: npt.NDArray[np.bool_]  # the training rows whose label ``noise`` changed
    about: DatasetMetrics


def load(parts: Components, settings: Settings, clock: Clock) -> Loaded:
    with clock.stage("load"):
        data = parts.dataset.load()
        shares = split(data, settings.split, settings.noise, settings.split_seed)
        train, validation, test = rows_of(shares, parts.backend)
        row = shares.train.row
        together = shares.validation.origin == shares.train.origin
        flipped = np.zeros(len(train), dtype=bool)
        flipped[shares.flipped] = True
        return Loaded(
            train,
            validation,
            test,
            row,
            shares.validation.row if together else row[:0],
            shares.labels,
            flipped,
            describe_data(parts.dataset.name, shares, data.X.shape[1]),
        )


def rows_of(shares: Split, backend: AdoptedBackend) -> tuple[Rows, Rows, Rows | None]:
    """Training, validation and test rows through the backend: one matrix for each source, of which
    the parts are views, or copies where the backend has none."""
    matrices: dict[str, Matrix] = {}

    def rows(part: Part) -> Rows:
        if part.origin not in matrices:
            matrices[part.origin] = backend.matrix(shares.sources[part.origin])
        X = matrices[part.origin].rows(part.row)
        X.prepare()  # what cannot be made is told before the fit
        return Rows(X, part.y, len(shares.labels))

    test = None if shares.test is None else rows(shares.test)
    return rows(shares.train), rows(shares.validation), test


@dataclass(frozen=True)
class Scored:
    """The full model, and the influence of each training row."""

    full: AdoptedFitted
    influence: Influence
    check: ValidationCheck
    cache: str  # "hit", "miss" or "off"

    def scores(self) -> Scores:
        train = self.influence.train
        return Scores(self.influence.phi, self.full.losses(train), train.y, self.influence)


def fit_and_score(parts: Components, settings: Settings, loaded: Loaded, clock: Clock) -> Scored:
    """θ̂ and φ, from the cache where they are there."""
    train, validation = loaded.train, loaded.validation
    with clock.stage("load"):
        path = fit_cache.place(parts, train, validation) if settings.cache else None
        known = fit_cache.load(path)
    with clock.stage("fit"):
        full = parts.model.restore(known.theta, train) if known else parts.model.fit(train)
    with clock.stage("influence"):
        curvature, options = full.curvature(train), (settings.probes, settings.seed)
        if known:
            solution = known.solution()
            influence = Influence(
                curvature, train, validation, parts.solver, solution, known.phi, *options
            )
        else:
            influence = influence_at(curvature, train, validation, parts.solver, *options)
        check = known.check if known else check_validation(full, influence)
        if known is None:
            fit_cache.save(path, full.theta, influence, check)
    return Scored(full, influence, check, "hit" if known else "off" if path is None else "miss")


@dataclass(frozen=True)
class Decided:
    """The full model, and how rows are to be kept: all that is left of scoring and choosing."""

    full: AdoptedFitted
    sampler: AdoptedSampler
    ratio: float
    phi: Array
    probability: Array  # π of each training row
    gradient_bound: float | None
    influence: InfluenceMetrics
    validation_check: ValidationCheckMetrics
    selection: SelectionMetrics | None  # where something was left to choose
    cache: str


def decide(parts: Components, settings: Settings, loaded: Loaded, clock: Clock) -> Decided:
    """Fit, score, and choose what was left open."""
    scored = fit_and_score(parts, settings, loaded, clock)
    with clock.stage("influence"):
        scores = scored.scores()
    sampler, ratio, selection = parts.sampler, settings.ratio, None
    if is_wanted(sampler, settings):
        with clock.stage("choose"):
            chosen = choose(
                parts.model, sampler, settings, scored.full, scored.influence, settings.seed
            )
        sampler, ratio, selection = chosen.sampler, chosen.ratio, describe_selection(chosen)
    with clock.stage("sample"):
        probability = sampler.probabilities(scores)
        bound = sampler.gradient_bound(scores)
    return Decided(
        scored.full,
        sampler,
        float(ratio),
        scored.influence.phi,
        probability,
        bound,
        describe_influence(scored.influence),
        describe_check(scored.check),
        selection,
        scored.cache,
    )


@dataclass(frozen=True)
class Refit:
    """One draw, the model of its rows, and that of its rows and the validation rows."""

    seed: int
    drawn: Draw
    subset: AdoptedFitted
    joined: AdoptedFitted | None
    final: AdoptedFitted
    repeat: int
    repeats: int


def refits(
    parts: Components,
    settings: Settings,
    loaded: Loaded,
    decided: Decided,
    clock: Clock,
    compared: bool,
) -> Iterator[Refit]:
    """A draw and its models for each repeat; without chance all draws are the first.

    The model with the validation rows is fitted where it is ``compared`` or final; to the last
    digit only where it is final.
    """
    count = 1 if decided.sampler.deterministic else settings.repeats
    is_final = settings.final != "subset"
    for repeat in range(count):
        seed = settings.seed + repeat
        with clock.stage("sample", repeat, count):
            drawn, weights = draw_subset(
                decided.probability, loaded.train, decided.sampler, decided.ratio, settings, seed
            )
            rows = loaded.train.take(drawn.rows)
        with clock.stage("refit", repeat, count):
            subset, joined = parts.model.fit(rows, weights, start=decided.full), None
            if compared or is_final:
                model = parts.model if is_final else parts.model.rough()
                joined = fit_with(model, rows, loaded.validation, weights, subset)
        final = joined if is_final and joined is not None else subset
        yield Refit(seed, drawn, subset, joined, final, repeat, count)
