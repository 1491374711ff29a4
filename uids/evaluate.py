"""How good a fitted model is on some rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from uids.backends import Array
from uids.models import Fitted, Rows

DELTAS = (0.1, 1.0)


def evaluate(fitted: Fitted, rows: Rows, deltas: Sequence[float] = DELTAS) -> dict[str, Any]:
    """Logloss, accuracy, AUC, and the worst logloss over each χ² ball."""
    losses = fitted.losses(rows)
    P = fitted.probabilities(rows)
    return {
        "logloss": float(losses.mean()),
        "accuracy": float((P.argmax(axis=1) == rows.y).mean()),
        "auc": auc(P, rows.y),
        "worst_case_logloss": {str(delta): worst_case(losses, delta) for delta in deltas},
    }


def auc(P: Array, y: npt.NDArray[np.int64]) -> float | None:
    """Area under the ROC curve; for several classes the mean of one against the rest, over the
    classes that are there. None when only one class is: then it has no meaning."""
    from sklearn.metrics import roc_auc_score

    present = np.unique(y)
    if len(present) < 2:
        return None
    if P.shape[1] == 2:
        return float(roc_auc_score(y, P[:, 1]))
    return float(np.mean([roc_auc_score(y == k, P[:, k]) for k in present]))


def worst_case(losses: Array, delta: float) -> float:
    """sup of the mean loss over reweightings Q of the rows with D_χ²(Q‖uniform) ≤ δ.

    By duality inf_η c (mean (l − η)₊²)^½ + η with c = √(2δ + 1): convex in one number. Where no
    loss lies below η the infimum has the closed form mean + √(2δ) · standard deviation.
    """
    from scipy.optimize import minimize_scalar

    mean, deviation = float(losses.mean()), float(losses.std())
    low, high = float(losses.min()), float(losses.max())
    if delta == 0 or deviation == 0:
        return mean
    if mean - deviation / np.sqrt(2 * delta) <= low:
        return float(mean + np.sqrt(2 * delta) * deviation)
    c = np.sqrt(2 * delta + 1)

    def dual(eta: float) -> float:
        above = np.maximum(losses - eta, 0)
        return float(c * np.sqrt(np.mean(above * above)) + eta)

    found = minimize_scalar(dual, bounds=(low, high), method="bounded", options={"xatol": 1e-12})
    return min(float(found.fun), high)


def gamma(subset: Fitted, full: Fitted) -> float:
    """Γ = ‖θ̃ − θ̂‖²: how far dropping rows has moved the parameters."""
    difference = subset.theta - full.theta
    return float(difference @ difference)
