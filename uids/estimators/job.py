"""From parameters and rows to the rows that are kept: a run up to the last fit, unjudged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from uids.backends import Array
from uids.datasets.adopted import AdoptedDataset
from uids.datasets.data import Arrays, Data, check
from uids.models import AdoptedModel
from uids.pipeline.clock import Clock
from uids.pipeline.components import DEFAULT_SAMPLER, Components, components, with_open_C
from uids.pipeline.decide import Decided, decide
from uids.pipeline.refits import Refit, refits
from uids.pipeline.settings import Settings, make_settings, opened
from uids.pipeline.stages import Loaded, load
from uids.registry import REGISTRIES, Chosen
from uids.selection.subset import draw_subset
from uids.system.keys import AUTO


class GivenRows(AdoptedDataset):
    """Rows as they are: what is fitted has a number for each column that it was given, and none is
    left out for being empty."""

    def load(self, backend: object = None) -> Data:
        return check(self.chosen.component.load(), self.name)


def chosen_model(model: object, C: float | str | None, auto: bool) -> Chosen:
    """The model at the C that is given, if one is; left open with ``auto`` where it can be."""
    registry = REGISTRIES["model"]
    if isinstance(model, str):
        if C is not None:
            return registry.choose(registry.build(model, C=C))
        return with_open_C(registry.choose(model)) if auto else registry.choose(model)
    chosen = registry.choose(model)
    return chosen if C is None else AdoptedModel(chosen).at_C(C).chosen


def parts_of(
    data: Data, model: Chosen, sampler: object, solver: object, backend: object, auto: bool
) -> Components:
    if sampler is None:
        sampler = AUTO if auto else DEFAULT_SAMPLER
    named = {"sampler": sampler, "solver": solver, "backend": backend}
    chosen = {kind: REGISTRIES[kind].choose(value) for kind, value in named.items()}
    arrays = Chosen("dataset", Arrays(data))
    parts = components({**chosen, "model": model, "dataset": arrays})
    return replace(parts, dataset=GivenRows(arrays))


def settings_of(keys: Mapping[str, object], metric: str, fraction: float, seed: int) -> Settings:
    """Those of a run with one draw, no test rows and no cache. A key that is None is not given."""
    given = {name: value for name, value in keys.items() if value is not None}
    return make_settings(
        **opened(given),
        seed=seed,
        repeats=1,
        cache=False,
        choose={"metric": metric},
        split={"validation": fraction, "test": 0.0},
    )


@dataclass(frozen=True)
class Job:
    """Which rows to keep, decided."""

    parts: Components
    settings: Settings
    loaded: Loaded
    decided: Decided

    def per_row(self, values: Array, rest: float) -> Array:
        """One value for each row of X, from those of the training rows; ``rest`` for rows that were
        split off for validation."""
        spread = np.full(len(self.loaded.train) + len(self.loaded.validation_row), rest)
        spread[self.loaded.row] = values
        return spread

    def rows(self, training: Array, validation: bool) -> Array:
        """Rows of X: some of the training rows, and perhaps those that were split off."""
        split_off = self.loaded.validation_row if validation else self.loaded.validation_row[:0]
        return np.sort(np.concatenate([self.loaded.row[training], split_off]))

    def draw(self) -> Array:
        """The training rows to keep."""
        decided, settings = self.decided, self.settings
        drawn, _ = draw_subset(
            decided.probability,
            self.loaded.train,
            decided.sampler,
            decided.ratio,
            settings.draw,
            decided.stratify,
            settings.seed,
        )
        return drawn.rows

    def refit(self) -> Refit:
        """The last models."""
        return next(refits(self.settings, self.loaded, self.decided, Clock(), compared=False))


def decided_job(parts: Components, settings: Settings) -> Job:
    clock = Clock()
    loaded = load(parts, settings, clock)
    return Job(parts, settings, loaded, decide(parts, settings, loaded, clock))
