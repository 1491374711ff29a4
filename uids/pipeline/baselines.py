"""Models on equal terms, judged by the test rows alone: with and without the rows that harm, with
and without the validation rows among the training rows, tuned and as given.

The plainest use of clean validation rows is to train on them. Whoever drops rows by them has to
beat that, with C and their weight tuned as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from uids.backends import Array
from uids.errors import ComponentError, UidsError
from uids.models import LOGLOSS, AdoptedFitted, Rows
from uids.pipeline.decide import Decided
from uids.pipeline.evaluate import evaluate
from uids.pipeline.measured import measured
from uids.pipeline.metrics import Baseline, PairedDifference, PlainMeasures
from uids.pipeline.stages import Loaded
from uids.selection.candidate import HeldOut
from uids.selection.measures import OF_CLASSES, loss_key, measures_of
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

    def __init__(self, test: Rows, loss_name: str = LOGLOSS) -> None:
        self.loss_name = loss_name
        # By names, of which the first is that of the loss.
        self.compared = measures_of(loss_name, bool(test.classes))
        self.values: dict[str, list[dict[str, Array]]] = {}
        self.measures: dict[str, list[PlainMeasures]] = {}

    def add(self, name: str, seen: HeldOut) -> None:
        """A model, by what it says of the test rows."""
        self.values.setdefault(name, []).append({m: seen.values(m) for m in self.compared})
        found = evaluate(seen, (), self.loss_name)
        plain = {key: value for key, value in found.items() if key != "worst_case_logloss"}
        self.measures.setdefault(name, []).append(cast(PlainMeasures, plain))

    def metrics(self) -> dict[str, Baseline]:
        """The measures of each model, and beside the full set's the difference to them."""
        contest = self.contest()
        found: dict[str, Baseline] = {}
        for name, values in contest.items():
            found[name] = {"test": mean_of(self.measures[name])}
            if name != "full" and "full" in contest:
                found[name]["difference"] = {
                    loss_key(measure): paired(values[measure], contest["full"][measure], measure)
                    for measure in self.compared
                }
        return found

    def contest(self) -> dict[str, dict[str, Array]]:
        """Name ↦ measure ↦ one value for each test row, less being better; means over repeats."""
        known = [name for name in NAMES if name in self.values]
        return {
            name: {m: np.mean([v[m] for v in self.values[name]], axis=0) for m in self.compared}
            for name in known
        }


def paired(values: Array, others: Array, measure: str) -> PairedDifference:
    """What the measure itself differs by; the values are shares that are wrong where more of the
    measure is better."""
    differences = others - values if measure in OF_CLASSES else values - others
    error = standard_error(differences)
    return {
        "mean": float(differences.mean()),
        "standard_error": error,
        "interval": [] if error is None else list(t_interval(differences, LEVEL)),
    }


def without_dropping(loaded: Loaded, decided: Decided) -> dict[str, AdoptedFitted]:
    """The models that drop nothing, by their names; those that can be fitted."""
    full, model = decided.full, decided.plain_model
    models = {"full": full, "full_plus_validation": decided.of_all(loaded, model, 1.0)}
    try:
        models["validation"] = model.rough().fit(loaded.validation, start=full)
    except ComponentError:
        raise
    except UidsError:
        pass  # no row of some class
    tuned = decided.tuned
    if tuned is not None:
        at = model if tuned.C is None else model.at_C(tuned.C)
        models["tuned_full_plus_validation"] = decided.of_all(loaded, at, tuned.weight)
    return models


def mean_of(measures: Sequence[PlainMeasures]) -> PlainMeasures:
    """None where it is None in one of them."""
    means: dict[str, float | None] = {}
    for key in measures[0]:
        values = [measured(each, key) for each in measures]
        known = [value for value in values if value is not None]
        means[key] = float(np.mean(known)) if len(known) == len(values) else None
    return cast(PlainMeasures, means)
