"""The stages of a run, each a function with a frozen result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from uids.backends import AdoptedBackend, Array, Matrix
from uids.datasets.data import Data
from uids.datasets.formats.adopted import Transformer
from uids.datasets.split import Part, Split, split
from uids.datasets.units import Units
from uids.models import AdoptedFitted, Rows
from uids.pipeline import fit_cache
from uids.pipeline.clock import Clock
from uids.pipeline.components import Components
from uids.pipeline.dataset_metrics import DatasetMetrics
from uids.pipeline.describe import (
    describe_data,
)
from uids.pipeline.settings import Settings
from uids.scoring.influence import Influence, influence_at
from uids.scoring.scores import Scores
from uids.scoring.validation_check import ValidationCheck, check_validation

if TYPE_CHECKING:
    from uids.datasets.encoding import Encoding  # imports arrow


@dataclass(frozen=True)
class Loaded:
    """The rows through the backend, and where they come from."""

    train: Rows
    validation: Rows
    test: Rows | None
    row: Array  # of each training row its number in the user's file
    validation_row: Array  # the same, where the validation rows are of the training file; or none
    labels: Array  # the original label of each class; none where y are numbers
    flipped: npt.NDArray[np.bool_]  # the training rows that ``noise`` made wrong
    test_from_train: bool  # the test rows were split off a file whose rows are only for training
    about: DatasetMetrics
    features: Sequence[str] | None  # the names of X's columns, where they have some
    source_rows: int  # of the training file, whatever part they are for
    encoding: Encoding | None  # how a table became X
    steps: Transformer | None  # what X has been through since
    used: Array | None  # the columns of the source that X has, where it has not all of them
    units: Units | None  # what the values of X are in a person's own

    def labels_of(self, y: Array) -> Array:
        """The original labels of classes; numbers are what they are."""
        return self.labels[y] if len(self.labels) else y


def load(parts: Components, settings: Settings, clock: Clock) -> Loaded:
    with clock.stage("load"):
        data = parts.dataset.load(parts.backend.chosen.component)
        shares = shared_out(parts, settings, data)
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
            shares.test is not None and shares.test.origin == "train" and not together,
            describe_data(parts.dataset, shares, data),
            data.features,
            len(data.y),
            data.encoding,
            data.steps,
            data.used,
            data.own_units,
        )


def shared_out(parts: Components, settings: Settings, data: Data) -> Split:
    return split(
        data,
        settings.split,
        settings.noise,
        settings.split_seed,
        settings.noise_kind,
        parts.model.continuous,
    )


def rows_of(
    shares: Split, backend: AdoptedBackend, trial: bool = True
) -> tuple[Rows, Rows, Rows | None]:
    """Training, validation and test rows through the backend: one matrix for each source, of which
    the parts are views, or copies where the backend has none. ``trial``: see ``Matrix.prepare``."""
    matrices: dict[str, Matrix] = {}
    settled = backend.settled(shares.sources[shares.train.origin])

    def rows(part: Part) -> Rows:
        if part.origin not in matrices:
            matrices[part.origin] = settled.matrix(shares.sources[part.origin])
        X = matrices[part.origin].rows(part.row)
        X.prepare(trial)  # what cannot be made is told before the fit
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
    place: Path | None  # of the file in the cache

    def scores(self, reference: AdoptedFitted | None = None) -> Scores:
        train, full = self.influence.train, self.full
        return Scores(
            self.influence.phi, full.losses(train), train.y, self.influence, full, reference
        )


def fit_and_score(
    parts: Components,
    settings: Settings,
    loaded: Loaded,
    clock: Clock,
    start: AdoptedFitted | None = None,
) -> Scored:
    """θ̂ and φ, from the cache where they are there."""
    train, validation = loaded.train, loaded.validation
    with clock.stage("load"):
        path = fit_cache.place(parts, train, validation) if settings.cache else None
        known = fit_cache.load(path)
    with clock.stage("fit"):
        model = parts.model
        full = model.restore(known.theta, train) if known else model.fit(train, start=start)
    with clock.stage("influence"):
        curvature, options = full.curvature(train), (settings.probes, settings.seed)
        if known:
            solution = known.solution()
            influence = Influence(
                curvature, train, validation, parts.solver, solution, known.phi, *options
            )
        else:
            influence = influence_at(curvature, train, validation, parts.solver, *options)
        influence = replace(
            influence, labels=loaded.labels, features=loaded.features, units=loaded.units
        )
        check = known.check if known else check_validation(model, full, influence)
        if known is None:
            fit_cache.save(path, full.theta, influence, check)
    cache = "hit" if known else "off" if path is None else "miss"
    return Scored(full, influence, check, cache, path)
