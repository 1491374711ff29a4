"""What a run does to each class, where the classes are uneven: accuracy, one number, hides what
becomes of a rare one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from uids.models import Fitted, Rows
from uids.pipeline.dataset_metrics import spelt
from uids.pipeline.metrics import ClassMetrics
from uids.pipeline.stages import Loaded

UNEVEN = 0.5  # of an even share of the training rows: a class with less makes them uneven
MOST_CLASSES = 20  # beyond which a table of them would tell little


def are_uneven(counts: npt.NDArray[np.int64]) -> bool:
    """``counts`` are the training rows of each class."""
    return bool(len(counts) <= MOST_CLASSES and counts.min() < UNEVEN * counts.mean())


def class_metrics(
    loaded: Loaded, full: Fitted, final: Fitted, kept: npt.NDArray[np.bool_]
) -> list[ClassMetrics]:
    """One line a class, by the test rows, or by the validation rows where there are none; none
    where the classes are even, or where there are none."""
    classes, y = loaded.train.classes, loaded.train.y
    if not classes:
        return []
    counts = np.bincount(y, minlength=classes)
    if not are_uneven(counts):
        return []
    gone = np.bincount(y[~kept], minlength=classes)
    judges = loaded.validation if loaded.test is None else loaded.test
    before, after = recalls(full, judges), recalls(final, judges)
    return [
        {
            "label": spelt(loaded.labels[k]),
            "rows": int(counts[k]),
            "dropped": int(gone[k]),
            "full_recall": before[k],
            "final_recall": after[k],
        }
        for k in range(classes)
    ]


def recalls(fitted: Fitted, rows: Rows) -> list[float | None]:
    """Of the rows of each class the share that is told right; None where it has no row."""
    right = fitted.probabilities(rows).argmax(axis=1) == rows.y
    return [
        float(right[rows.y == k].mean()) if (rows.y == k).any() else None
        for k in range(rows.classes)
    ]
