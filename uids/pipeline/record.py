"""The metrics of a run, put together from what its stages left."""

from __future__ import annotations

from uids.pipeline.by_class import class_metrics
from uids.pipeline.clock import Clock
from uids.pipeline.components import Components
from uids.pipeline.decide import Decided
from uids.pipeline.describe import (
    describe,
    describe_check,
    describe_influence,
    describe_labels,
    environment,
)
from uids.pipeline.describe_selection import describe_selection
from uids.pipeline.evaluate import flips_found
from uids.pipeline.judge import Judge
from uids.pipeline.metrics import Metrics
from uids.pipeline.settings import Settings
from uids.pipeline.stages import Loaded
from uids.selection.walk import FEW


def record(
    parts: Components,
    settings: Settings,
    loaded: Loaded,
    decided: Decided,
    judge: Judge,
    clock: Clock,
) -> Metrics:
    metrics: Metrics = {
        "schema": 1,
        "status": "ok",
        "dataset": loaded.about,
        "config": describe(parts, settings),
        "backend": loaded.train.X.note,
        "loss": decided.model.loss_name,
        "full": judge.full,
        "subset": judge.subset(),
        "final": judge.final,
        "conclusion": judge.conclusion(),
        "influence": describe_influence(decided.scored.influence),
        "validation_check": describe_check(decided.plain.check),
        "sampling": {
            "gradient_bound": decided.gradient_bound,
            "deterministic": decided.sampler.deterministic,
        },
        "noise": flips_found(decided.scores, loaded.flipped),
        "cache": decided.scored.cache,
        "seconds": clock.seconds(),
        "environment": environment(),
    }
    if decided.labels is not None:
        trusted = decided.plain.check.cleaner is True
        few = len(loaded.validation) < FEW
        metrics["labels"] = describe_labels(decided.labels, trusted, few)
    by_class = class_metrics(loaded, decided.full, judge.first.final, judge.kept)
    if by_class:
        metrics["classes"] = by_class
    if judge.baselines is not None:
        metrics["baselines"] = judge.baselines.metrics()
    if decided.selection is not None:
        metrics["selection"] = describe_selection(decided)
    return metrics
