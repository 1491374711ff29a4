"""Accuracy and AUC as means over rows, so that two models can be compared row by row."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from uids.backends import Array
from uids.models import LOGLOSS
from uids.system.statistics import ranks

OF_CLASSES = ("accuracy", "auc")  # measures that are no loss


def measure_name(metric: str, loss_name: str) -> str:
    """What is measured: ``choose.metric``, in which "logloss" stands for the loss of the model."""
    return metric if metric in OF_CLASSES else loss_name


def walk_measure(metric: str, loss_name: str) -> str:
    """By which candidates are compared on the way. A hundred rows tell an error rate to 3 points
    and the loss far closer: a walk by accuracy ended in less accurate models than one by loss (by
    0.006 on breast_cancer and diabetes_scale), and so the loss leads, and accuracy decides."""
    return loss_name if metric == "accuracy" else measure_name(metric, loss_name)


def loss_key(name: str) -> str:
    """By which a loss stands in files: "squared error" ↦ squared_error."""
    return re.sub(r"\W+", "_", name.lower()).strip("_")


def measures_of(loss_name: str, classes: bool) -> list[str]:
    """By which models are compared, the loss first."""
    return [loss_name, *(OF_CLASSES if classes else ())]


def loss_text(value: float, measure: str, sign: str = "") -> str:
    """Four decimals of what lies near 1; five digits of a loss that may be of any size."""
    known = (LOGLOSS, *OF_CLASSES)
    return f"{value:{sign}.4f}" if measure in known else f"{value:{sign}.5g}"


def row_values(P: Array, y: npt.NDArray[np.int64], metric: str) -> Array:
    """One number for each row; their mean is the share of errors, or 1 − AUC: less is better."""
    if metric == "accuracy":
        return np.asarray(P.argmax(axis=1) != y, dtype=np.float64)
    if metric != "auc":
        raise ValueError(f"no rows' values of {metric!r}")
    if P.shape[1] == 2:
        return 1 - auc_values(P[:, 1], y == 1)
    present = np.unique(y)
    return 1 - np.mean([auc_values(P[:, k], y == k) for k in present], axis=0)


def auc_values(score: Array, positive: npt.NDArray[np.bool_]) -> Array:
    """Values whose mean is the AUC, and whose spread gives its standard error.

    A positive row's placement V is the share of negative rows below it, a negative row's the share
    of positive rows above it, half for ties; either kind has the mean A, the AUC. The values are
    A + (n / n₊) (V − A) and A + (n / n₋) (V − A): the variance of their mean is that of DeLong,
    DeLong and Clarke-Pearson (1988), and so is that of paired differences.
    """
    n, many = len(score), int(positive.sum())
    if many in (0, n):  # of one class: no order to get right
        return np.ones(n)
    placement = np.empty(n)
    overall = ranks(score)
    placement[positive] = (overall[positive] - ranks(score[positive])) / (n - many)
    placement[~positive] = 1 - (overall[~positive] - ranks(score[~positive])) / many
    area = placement[positive].mean()
    share = np.where(positive, many / n, 1 - many / n)
    return np.asarray(area + (placement - area) / share)
