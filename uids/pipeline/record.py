"""The metrics of a run, put together from what its stages left."""

from __future__ import annotations

from uids.pipeline.clock import Clock
from uids.pipeline.components import Components
from uids.pipeline.describe import describe, environment
from uids.pipeline.evaluate import flips_found
from uids.pipeline.judge import Judge
from uids.pipeline.metrics import Metrics
from uids.pipeline.settings import Settings
from uids.pipeline.stages import Decided, Loaded


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
        "full": judge.full,
        "subset": judge.subset(),
        "influence": decided.influence,
        "validation_check": decided.validation_check,
        "sampling": {"gradient_bound": decided.gradient_bound},
        "noise": flips_found(decided.phi, loaded.flipped),
        "cache": decided.cache,
        "seconds": clock.seconds(),
        "environment": environment(),
    }
    if judge.baselines is not None:
        metrics["baselines"] = judge.baselines.metrics()
        metrics["verdict"] = judge.baselines.verdict()
    if decided.selection is not None:
        metrics["selection"] = decided.selection
    return metrics
