"""Models on equal terms, judged by the test rows alone: with and without the rows that harm, with
and without the validation rows among the training rows, tuned and as given.

The plainest use of clean validation rows is to train on them. Whoever drops rows by them has to
beat that, with C and their weight tuned as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uids.backends import Array
from uids.errors import ComponentError, UidsError
from uids.models import AdoptedFitted, Fitted, Rows
from uids.pipeline.decide import Decided
from uids.pipeline.evaluate import evaluate
from uids.pipeline.metrics import Baseline, PairedDifference, PlainMeasures
from uids.pipeline.stages import Loaded
from uids.selection.candidate import HeldOut
from uids.selection.settings import METRICS
from uids.selection.trials import fit_with
from uids.system.statistics import standard_error, t_interval

LEVEL = 0.05  # how often an interval of a difference misses it

# From the plainest on: where two cannot be told apart, the earlier one is to be used.
NAMES = (
    "full",
    "full_plus_validation",
    "tuned_full_plus_validation",
    "subset",
    "subset_plus_validation",
    "validation",
)


class Baselines:
    """Collects the models' values on each test row and their measures, over repeats."""

    def __init__(self, test: Rows) -> None:
        self.test = test
        self.values: dict[str, list[dict[str, Array]]] = {}
        self.measures: dict[str, list[PlainMeasures]] = {}

    def add(self, name: str, fitted: Fitted) -> None:
        rows = HeldOut.of(fitted, self.test)
        self.values.setdefault(name, []).append({m: rows.values(m) for m in METRICS})
        measured = evaluate(fitted, self.test, deltas=())
        self.measures.setdefault(name, []).append(
            {
                "logloss": measured["logloss"],
                "accuracy": measured["accuracy"],
                "auc": measured["auc"],
            }
        )

    def metrics(self) -> dict[str, Baseline]:
        """The measures of each model, and beside the full set's the difference to them."""
        contest = self.contest()
        found: dict[str, Baseline] = {}
        for name, values in contest.items():
            found[name] = {"test": mean_of(self.measures[name])}
            if name != "full" and "full" in contest:
                found[name]["difference"] = {
                    measure: paired(values[measure], contest["full"][measure], measure)
                    for measure in ("logloss", "accuracy")
                }
        return found

    def contest(self) -> dict[str, dict[str, Array]]:
        """Name ↦ measure ↦ one value for each test row, less being better; means over repeats."""
        known = [name for name in NAMES if name in self.values]
        return {
            name: {m: np.mean([each[m] for each in self.values[name]], axis=0) for m in METRICS}
            for name in known
        }


def paired(values: Array, others: Array, measure: str) -> PairedDifference:
    """What the measure itself differs by; the values are shares that are wrong where more of the
    measure is better."""
    differences = values - others if measure == "logloss" else others - values
    error = standard_error(differences)
    return {
        "mean": float(differences.mean()),
        "standard_error": error,
        "interval": [] if error is None else list(t_interval(differences, LEVEL)),
    }


def without_dropping(loaded: Loaded, decided: Decided) -> dict[str, AdoptedFitted]:
    """The models that drop nothing, by their names; those that can be fitted."""
    full, model = decided.full, decided.plain_model
    rough = model.rough()
    models = {
        "full": full,
        "full_plus_validation": fit_with(rough, loaded.train, loaded.validation, None, 1.0, full),
    }
    try:
        models["validation"] = rough.fit(loaded.validation, start=full)
    except ComponentError:
        raise
    except UidsError:
        pass  # no row of some class
    tuned = decided.tuned
    if tuned is not None:
        at = rough if tuned.C is None else rough.at_C(tuned.C)
        models["tuned_full_plus_validation"] = fit_with(
            at, loaded.train, loaded.validation, None, tuned.weight, full
        )
    return models


def mean_of(measures: Sequence[PlainMeasures]) -> PlainMeasures:
    aucs = [each["auc"] for each in measures]
    return {
        "logloss": float(np.mean([each["logloss"] for each in measures])),
        "accuracy": float(np.mean([each["accuracy"] for each in measures])),
        "auc": None if None in aucs else float(np.mean([auc for auc in aucs if auc is not None])),
    }
