"""Which measures a run has, by name, and their values."""

from __future__ import annotations

from typing import cast

from uids.pipeline.metrics import MEASURES, Metrics, PlainMeasures


def measured(measures: PlainMeasures, key: str) -> float | None:
    """One of the measures, or the loss by its key."""
    return cast("dict[str, float | None]", measures).get(key)


def shown_measures(metrics: Metrics) -> list[str]:
    """By name, the loss of the model first: of a model of numbers that alone."""
    loss = loss_of(metrics)
    return [loss, *(n for n in MEASURES if n != loss and metrics["dataset"]["classes"])]


def loss_of(metrics: Metrics) -> str:
    """The name of the loss that the model was fitted by, and is judged by."""
    return metrics.get("loss", "logloss")
