"""Four models on equal terms, judged by the test rows alone: with and without the rows that harm,
with and without the validation rows among the training rows.

The plainest use of clean validation rows is to train on them. Whoever drops rows by them has to
beat that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uids.backends import Array
from uids.models import AdoptedFitted, AdoptedModel, Fitted, Rows, stacked
from uids.pipeline.evaluate import evaluate
from uids.pipeline.metrics import Baseline, PlainMeasures, Verdict
from uids.pipeline.verdict import NAMES, verdict


def fit_with(
    model: AdoptedModel,
    rows: Rows,
    validation: Rows,
    weights: Array | None,
    start: AdoptedFitted,
) -> AdoptedFitted:
    """The model of ``rows`` and the validation rows, each of which stands for itself alone."""
    if weights is not None:
        weights = np.concatenate([weights, np.ones(len(validation))])
    return model.fit(stacked(rows, validation), weights, start=start)


class Baselines:
    """Collects the four models' losses on each test row and their measures, over repeats."""

    def __init__(self, test: Rows) -> None:
        self.test = test
        self.losses: dict[str, list[Array]] = {name: [] for name in NAMES}
        self.measures: dict[str, list[PlainMeasures]] = {name: [] for name in NAMES}

    def add(self, name: str, fitted: Fitted) -> None:
        self.losses[name].append(fitted.losses(self.test))
        measured = evaluate(fitted, self.test, deltas=())
        self.measures[name].append(
            {
                "logloss": measured["logloss"],
                "accuracy": measured["accuracy"],
                "auc": measured["auc"],
            }
        )

    def metrics(self) -> dict[str, Baseline]:
        return {name: {"test": mean_of(self.measures[name])} for name in NAMES}

    def verdict(self) -> Verdict:
        return verdict({name: np.mean(self.losses[name], axis=0) for name in NAMES})


def mean_of(measures: Sequence[PlainMeasures]) -> PlainMeasures:
    aucs = [each["auc"] for each in measures]
    return {
        "logloss": float(np.mean([each["logloss"] for each in measures])),
        "accuracy": float(np.mean([each["accuracy"] for each in measures])),
        "auc": None if None in aucs else float(np.mean([auc for auc in aucs if auc is not None])),
    }
