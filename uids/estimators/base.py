"""The parameters that both estimators have, and the job that they make of them."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state

from uids.backends import Array
from uids.datasets.data import Data
from uids.errors import UidsError, require
from uids.estimators.job import Job, chosen_model, decided_job, parts_of, settings_of
from uids.pipeline.describe import describe_check
from uids.pipeline.describe_selection import describe_choice

SEEDS = 2**31 - 1


class InfluenceEstimator(BaseEstimator):
    """See ``InfluenceClassifier`` for the parameters."""

    def __init__(
        self,
        *,
        ratio: float | str | None = None,
        sampler: object = None,
        C: float | str | None = None,
        model: object = "logreg",
        solver: object = "auto",
        backend: object = "auto",
        stratify: bool | str | None = None,
        auto: bool = False,
        metric: str = "logloss",
        validation_fraction: float = 0.2,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.ratio = ratio
        self.sampler = sampler
        self.C = C
        self.model = model
        self.solver = solver
        self.backend = backend
        self.stratify = stratify
        self.auto = auto
        self.metric = metric
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _job(self, data: Data, final: str | None, weight: float | str | None) -> Job:
        """Everything but the draw and the last fit."""
        model = chosen_model(self.model, self.C, self.auto)
        parts = parts_of(data, model, self.sampler, self.solver, self.backend, self.auto)
        keys = {
            "ratio": self.ratio,
            "stratify": self.stratify,
            "final": final,
            "validation_weight": weight,
            "auto": self.auto,
        }
        settings = settings_of(keys, self.metric, self._fraction(), self._seed())
        return decided_job(parts, settings)

    def _fraction(self) -> float:
        fraction = self.validation_fraction
        try:
            number = isinstance(fraction, int | float | np.number)
            require(number and 0 < fraction < 1, "validation_fraction", "in (0, 1)", fraction)
        except ValueError as error:
            raise UidsError(str(error)) from error
        return float(fraction)

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(SEEDS))

    def _tell(self, job: Job, rows: Array) -> None:
        """The attributes that both have after a fit."""
        self.influence_ = job.per_row(job.decided.phi, np.nan)
        self.probabilities_ = job.per_row(job.decided.probability, 1.0)
        self.sample_indices_ = rows
        self.choice_ = describe_choice(job.decided)
        self.validation_check_ = describe_check(job.decided.plain.check)
