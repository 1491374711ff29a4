"""The rivals' side of ``rivals.py``: cleanlab and loss trimming. Run by the interpreter of
.venv-rivals, which has scikit-learn and cleanlab but not uids.

Reads the path of a problem from each line of its input and answers with a line of JSON: so that the
imports, which take longer than a small problem, are paid for once.

Every rival is given the validation rows, as uids is. T are the training rows, V the validation
rows, cut into FOLDS parts V_f. With l the logloss and θ(A, C) the logistic regression of rows A:

- ``cleanlab``: P(y | x) of each training row under θ(T without its fold + V, C); what
  ``find_label_issues`` finds is dropped; the model is θ(rest + V, C).
- ``trimming``: the share t of T with the largest l under θ(T + V, C) is dropped; the model is
  θ(rest + V, C). t is the one that does best on the V_f, everything being done with V without V_f.

- ``full_C``, ``full_plus_validation_C``, ``full_plus_validation_w``, ``full_plus_validation_Cw``:
  nothing dropped, C, or the weight of each validation row, or both, that do best on the V_f.

The first two at C = 0.1, and (``…_C``) at the C that does best on the V_f. For cleanlab's C the
pruning at each C is not done again for each f, only the fit after it is: the issues of one C are
found with all of V, as its user would find them.

What does best is decided by the measure that is then reported: the logloss of a rival is that of
the rival tuned by logloss, its accuracy that of the rival tuned by accuracy (ties by logloss), its
AUC that of the rival tuned by AUC (mean over the folds).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from rival_problem import Array, Fits, Problem, read
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

DEFAULT_C = 0.1  # that of uids
MEASURES = ("logloss", "accuracy", "auc")
CS = (0.01, 0.1, 1.0, 10.0, 100.0)
TRIMS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)  # shares of the training rows
WEIGHTS = (1.0, 3.0, 10.0, 30.0)  # of each validation row


def best(tried: dict[Any, Array], measure: str) -> Any:
    """The key of what does best by the measure, ties by logloss."""
    k = MEASURES.index(measure)
    return min(tried, key=lambda key: (tried[key][k], tried[key][0]))


@dataclass(frozen=True)
class Found:
    """What cleanlab says of the training rows at one C."""

    kept: Array
    quality: Array  # low where the label is likely to be wrong


def cleanlab_at(fits: Fits) -> Found:
    problem = fits.problem
    y = problem.y[: problem.n]
    P = np.empty((problem.n, problem.classes))
    for rest, judged in problem.shares(y):
        fits.fit(np.concatenate([rest, problem.validation]))
        P[judged] = softmax(fits.scores(problem.X[judged]), axis=1)
    issues = find_label_issues(y, P, n_jobs=1)
    return Found(np.flatnonzero(~issues), get_label_quality_scores(y, P, method="self_confidence"))


def judge_kept(fits: Fits, kept: Array, weight: float = 1.0) -> Array:
    """The measures on V_f under θ(kept + V without V_f), mean over the rows of V."""
    problem, total = fits.problem, np.zeros(len(MEASURES))
    for rest, judged in problem.folds():
        fits.fit(np.concatenate([kept, rest]), weight)
        total += len(judged) * fits.judged(problem.X[judged], problem.y[judged])
    return total / len(problem.validation)


def trimmed(training_losses: Array, share: float) -> Array:
    """The training rows without the share that has the largest losses."""
    order = np.argsort(training_losses, kind="stable")
    return np.sort(order[: len(order) - int(share * len(order))])


def judge_trims(fits: Fits) -> dict[float, Array]:
    """For each share to trim, the measures on V_f."""
    problem, train = fits.problem, np.arange(fits.problem.n)
    total = {share: np.zeros(len(MEASURES)) for share in TRIMS}
    for rest, judged in problem.folds():
        fits.fit(np.concatenate([train, rest]))
        training_losses = fits.losses(train)
        for share in TRIMS:
            fits.fit(np.concatenate([trimmed(training_losses, share), rest]))
            total[share] += len(judged) * fits.judged(problem.X[judged], problem.y[judged])
    return {share: sums / len(problem.validation) for share, sums in total.items()}


def measures(fits: Fits, kept: Array, weight: float = 1.0) -> dict[str, float]:
    """Of θ(kept + V) on the test rows, or with no weight of θ(kept)."""
    problem = fits.problem
    rows = [kept, problem.validation] if weight else [kept]
    fits.fit(np.concatenate(rows), weight or 1.0)
    logloss, error, no_area = fits.judged(problem.X_test, problem.y_test)
    return {"logloss": logloss, "accuracy": 1 - error, "auc": 1 - no_area}


class Rivals:
    """The rivals of one problem, each tuned by one measure after the other."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.train = problem, np.arange(problem.n)
        self.at = {C: Fits(problem, C) for C in CS}
        self.found = {C: cleanlab_at(fits) for C, fits in self.at.items()}
        self.pruned = {C: judge_kept(fits, self.found[C].kept) for C, fits in self.at.items()}
        self.trims = {
            (C, share): tried
            for C, fits in self.at.items()
            for share, tried in judge_trims(fits).items()
        }
        self.alone = {}
        for C, fits in self.at.items():
            fits.fit(self.train)
            V = problem.validation
            self.alone[C] = fits.judged(problem.X[V], problem.y[V])
        self.joined = {
            (C, w): judge_kept(fits, self.train, w) for C, fits in self.at.items() for w in WEIGHTS
        }
        self.known: dict[tuple[Any, ...], dict[str, float]] = {}

    def tuned(self, measure: str) -> dict[str, dict[str, float]]:
        """The rivals that are chosen by this measure, on the test rows."""
        plain_trims = {key: tried for key, tried in self.trims.items() if key[0] == DEFAULT_C}
        by_C = {key: tried for key, tried in self.joined.items() if key[1] == 1.0}
        by_w = {key: tried for key, tried in self.joined.items() if key[0] == DEFAULT_C}
        return {
            "full": self.whole(DEFAULT_C, 0.0),
            "full_C": self.whole(best(self.alone, measure), 0.0),
            "full_plus_validation": self.whole(DEFAULT_C, 1.0),
            "full_plus_validation_C": self.whole(*best(by_C, measure)),
            "full_plus_validation_w": self.whole(*best(by_w, measure)),
            "full_plus_validation_Cw": self.whole(*best(self.joined, measure)),
            "cleanlab": self.cleaned(DEFAULT_C),
            "cleanlab_C": self.cleaned(best(self.pruned, measure)),
            "trimming": self.without(*best(plain_trims, measure)),
            "trimming_C": self.without(*best(self.trims, measure)),
        }

    def whole(self, C: float, weight: float) -> dict[str, float]:
        return self._once(("whole", C, weight), C, lambda: self.train, weight)

    def cleaned(self, C: float) -> dict[str, float]:
        return self._once(("cleaned", C), C, lambda: self.found[C].kept)

    def without(self, C: float, share: float) -> dict[str, float]:
        return self._once(("without", C, share), C, lambda: trimmed(self.losses(C), share))

    def losses(self, C: float) -> Array:
        """Of the training rows under the model of all rows."""
        self.at[C].fit(np.arange(len(self.problem.y)))
        return self.at[C].losses(self.train)

    def _once(
        self, key: tuple[Any, ...], C: float, kept: Callable[[], Array], weight: float = 1.0
    ) -> dict[str, float]:
        """The same model may be the best by more than one measure."""
        if key not in self.known:
            self.known[key] = measures(self.at[C], kept(), weight)
        return self.known[key]


def answer(problem: Problem) -> dict[str, Any]:
    started, busy = time.perf_counter(), time.process_time()
    wrong = np.zeros(problem.n, dtype=bool)
    wrong[problem.wrong] = True
    rivals = Rivals(problem)
    tuned = {measure: rivals.tuned(measure) for measure in MEASURES}
    values = {
        name: {measure: tuned[measure][name][measure] for measure in MEASURES}
        for name in tuned["logloss"]
    }
    cleanlab_C, (trimming_C, _) = (best(t, "logloss") for t in (rivals.pruned, rivals.trims))
    finding = {
        "cleanlab": auc_of(-rivals.found[DEFAULT_C].quality, wrong),
        "cleanlab_C": auc_of(-rivals.found[cleanlab_C].quality, wrong),
        "loss": auc_of(rivals.losses(DEFAULT_C), wrong),
        "loss_C": auc_of(rivals.losses(trimming_C), wrong),
    }
    spent = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - busy}
    return {"rivals": values, "finding": finding, **spent}


def auc_of(score: Array, wrong: Array) -> float | None:
    return float(roc_auc_score(wrong, score)) if wrong.any() else None


def main() -> None:
    # Of a fit of some hundred rows, checking its input anew would be a good part.
    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
    for line in sys.stdin:
        try:
            said = answer(read(line.strip()))
        except ValueError as error:
            said = {"error": str(error)}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
