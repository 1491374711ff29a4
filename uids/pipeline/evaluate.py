"""How good a fitted model is on some rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from uids.backends import Array
from uids.models import LOGLOSS, Fitted
from uids.pipeline.metrics import Measures, NoiseMetrics, Repeat, SubsetMetrics
from uids.scoring.scores import Scores
from uids.selection.candidate import HeldOut
from uids.selection.measures import loss_key
from uids.system.statistics import ranks

ROUNDING = 1e-13  # of a sum of squares, relative to all of them
DELTAS = (0.1, 1.0)  # radii of the χ² balls


def evaluate(seen: HeldOut, deltas: Sequence[float] = DELTAS, loss_name: str = LOGLOSS) -> Measures:
    """Logloss, accuracy, AUC, and the worst logloss over each χ² ball; beside them the model's own
    loss where that is another, by its key, and of numbers that alone."""
    losses, P, y = seen.losses, seen.probabilities, seen.y
    own = {} if loss_name == LOGLOSS else {loss_key(loss_name): float(losses.mean())}
    if not P.shape[1]:
        none = {"logloss": None, "accuracy": None, "auc": None, "worst_case_logloss": None}
        return cast(Measures, {**own, **none})
    if own:
        losses = logloss(P, y)
    measures: Measures = {
        "logloss": float(losses.mean()),
        "accuracy": float((P.argmax(axis=1) == y).mean()),
        "auc": auc(P, y),
        "worst_case_logloss": dict(zip(map(str, deltas), worst_cases(losses, deltas), strict=True)),
    }
    return cast(Measures, {**own, **measures})


def logloss(P: Array, y: Array) -> Array:
    """−log p of each row's own class, (n,), from probabilities (n, K)."""
    return -np.log(np.maximum(P[np.arange(len(y)), y], np.finfo(float).tiny))


def auc(P: Array, y: Array) -> float | None:
    """Area under the ROC curve; for several classes the mean of one against the rest, over the
    classes that are there. None when only one class is: then it has no meaning."""
    present = np.unique(y)
    if len(present) < 2:
        return None
    if P.shape[1] == 2:
        return one_auc(P[:, 1], y == 1)
    return float(np.mean([one_auc(P[:, k], y == k) for k in present]))


def one_auc(score: Array, positive: npt.NDArray[np.bool_]) -> float:
    """How often a positive row scores above a negative one, half for a tie: by their ranks, which
    takes one sort where a curve takes several passes."""
    many = float(positive.sum())
    above = ranks(score)[positive].sum() - many * (many + 1) / 2
    return float(above / (many * (len(score) - many)))


def worst_cases(losses: Array, deltas: Sequence[float]) -> list[float]:
    """For each δ, sup of the mean loss over reweightings Q of the rows with D_χ²(Q‖uniform) ≤ δ.

    By duality inf_η c (mean (l − η)₊²)^½ + η with c = √(2δ + 1), convex in one number. With the
    losses in order, and the sums of the k largest and of their squares, the slope at each of them
    is known. Bisection finds between which two it is 0, and there, μ and v being the mean and the
    variance of the k largest, the value is μ + √(v (c² k / n − 1)). One sort, however many δ.
    """
    n = len(losses)
    mean, deviation = float(losses.mean()), float(losses.std())
    high_first = np.sort(losses)[::-1] - mean  # around the mean, or the squares would cancel
    first, second = np.cumsum(high_first), np.cumsum(high_first**2)

    def spread(k: int, eta: float) -> float:
        """Σ (l − η)² of the k largest."""
        return max(0.0, float(second[k - 1] - 2 * eta * first[k - 1] + k * eta * eta))

    worst = []
    for delta in deltas:
        c2 = 2 * delta + 1
        if delta == 0 or deviation == 0:
            worst.append(mean)
            continue
        # The largest k at which the slope, 1 − c Σ(l − η) / √(n Σ(l − η)²) at η = l_k, is not yet
        # negative: then k losses lie above the best η.
        low, high = 1, n
        while low < high:
            k = (low + high + 1) // 2
            eta = float(high_first[k - 1])
            total = float(first[k - 1] - k * eta)
            # Among losses that are alike both are 0 but for rounding, and it is not negative.
            if c2 * total * total <= n * (spread(k, eta) + ROUNDING * second[-1]):
                low = k
            else:
                high = k - 1
        k = low
        middle = float(first[k - 1]) / k
        variance = max(0.0, float(second[k - 1]) / k - middle * middle)
        surplus = max(0.0, 2 * delta if k == n else c2 * k / n - 1)
        worst.append(min(middle + float(np.sqrt(variance * surplus)), float(high_first[0])) + mean)
    return worst


def gamma(subset: Fitted, full: Fitted) -> float:
    """Γ = ‖θ̃ − θ̂‖²: how far dropping rows has moved the parameters."""
    difference = subset.theta - full.theta
    return float(np.einsum("i,i->", difference, difference))


def flips_found(scores: Scores, flipped: Array) -> NoiseMetrics | None:
    """How well φ finds the rows that ``noise`` made wrong: among as many rows of largest φ as there
    are, the share that is wrong (precision and recall are then one number), and the AUC, beside
    that of the loss and of the label audit."""
    count, classes = int(flipped.sum()), scores.influence.train.classes
    if count == 0:
        return None
    first = np.argsort(-scores.phi, kind="stable")[:count]
    hit = float(flipped[first].mean())
    return {
        "flipped": count,
        "precision": hit,
        "recall": hit,
        "auc": one_auc(scores.phi, flipped),
        "loss_auc": one_auc(scores.loss, flipped),
        "label_error_auc": one_auc(scores.label_error, flipped) if classes else None,
    }


def mean_of_repeats(repeats: list[Repeat]) -> SubsetMetrics:
    """The mean over repeats of every number that they share, nested as they are."""

    def mean(values: list[Any]) -> Any:
        if isinstance(values[0], dict):
            return {key: mean([value[key] for value in values]) for key in values[0]}
        return None if None in values else float(np.mean(values))

    return {
        "size": mean([repeat["size"] for repeat in repeats]),
        "validation": mean([repeat["validation"] for repeat in repeats]),
        "test": mean([repeat["test"] for repeat in repeats]),
        "gamma": mean([repeat["gamma"] for repeat in repeats]),
        "repeats": repeats,
    }
