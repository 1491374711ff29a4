"""The models of a run judged: on validation and test rows, and against each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from uids.models import AdoptedFitted, AdoptedModel
from uids.pipeline.baselines import Baselines, fit_with
from uids.pipeline.clock import Clock
from uids.pipeline.evaluate import evaluate, gamma, mean_of_repeats
from uids.pipeline.metrics import PartMeasures, Repeat, SubsetMetrics
from uids.pipeline.stages import Loaded, Refit


class Judge:
    """Judges the full model at once, and each refit as it comes: none but the first is held."""

    def __init__(
        self, model: AdoptedModel, loaded: Loaded, full: AdoptedFitted, clock: Clock
    ) -> None:
        self.loaded, self.full_model, self.clock = loaded, full, clock
        self.repeats: list[Repeat] = []
        self._first: Refit | None = None
        with clock.stage("evaluate"):
            self.full = self.measured(full)
        self.baselines = None if loaded.test is None else Baselines(loaded.test)
        if self.baselines is not None:
            with clock.stage("refit"):
                joined = fit_with(model.rough(), loaded.train, loaded.validation, None, full)
            with clock.stage("evaluate"):
                self.baselines.add("full", full)
                self.baselines.add("full_plus_validation", joined)

    @property
    def has_test(self) -> bool:
        return self.baselines is not None

    def measured(self, fitted: AdoptedFitted) -> PartMeasures:
        test = self.loaded.test
        return {
            "validation": evaluate(fitted, self.loaded.validation),
            "test": None if test is None else evaluate(fitted, test),
        }

    def add(self, refit: Refit) -> None:
        with self.clock.stage("evaluate", refit.repeat, refit.repeats):
            if self.baselines is not None and refit.joined is not None:
                self.baselines.add("subset", refit.subset)
                self.baselines.add("subset_plus_validation", refit.joined)
            self.repeats.append(
                {
                    "seed": refit.seed,
                    "size": len(refit.drawn.rows),
                    **self.measured(refit.subset),
                    "gamma": gamma(refit.subset, self.full_model),
                }
            )
        self._first = self._first or refit

    @property
    def first(self) -> Refit:
        assert self._first is not None
        return self._first

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """The rows of the first repeat."""
        kept = np.zeros(len(self.loaded.train), dtype=bool)
        kept[self.first.drawn.rows] = True
        return kept

    def subset(self) -> SubsetMetrics:
        """Means over the repeats, and each of them."""
        return mean_of_repeats(self.repeats)
