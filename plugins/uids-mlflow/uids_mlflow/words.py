"""From the metrics of a run to MLflow's parameters, metrics and tags: pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

LONGEST = 500  # characters of a parameter or a tag, which every version of MLflow takes
ELSEWHERE = ("schema", "config", "environment")  # of the metrics: no results
NOT_OF_THE_RUN = ("reporter", "sweep")  # of the config of a failed run


def parameters(metrics: Mapping[str, Any]) -> dict[str, str]:
    """The config by its keys: "ratio", "sampler" for its name, "sampler.alpha"."""
    config = metrics.get("config") or {}
    kept = {key: value for key, value in config.items() if key not in NOT_OF_THE_RUN}
    leaves = {key.removesuffix(".name"): value for key, value in flat(kept, ".")}
    return {key: str(value)[:LONGEST] for key, value in leaves.items()}


def numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Every finite number, as "full/test/logloss": MLflow shows what is before a / as a group."""
    results = {key: value for key, value in metrics.items() if key not in ELSEWHERE}
    return {
        key: float(value)
        for key, value in flat(results, "/")
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }


def tags(metrics: Mapping[str, Any]) -> dict[str, str]:
    named = {
        "uids.data": metrics.get("dataset", {}).get("name"),
        "uids.version": metrics.get("environment", {}).get("uids"),
        "uids.command": metrics.get("command"),
        "uids.error": metrics.get("error"),
    }
    return {key: str(value)[:LONGEST] for key, value in named.items() if value}


def note(metrics: Mapping[str, Any]) -> dict[str, str]:
    """What the run concludes, where MLflow shows its description."""
    sentence = metrics.get("conclusion", {}).get("sentence") or metrics.get("error")
    return {"mlflow.note.content": str(sentence)} if sentence else {}


def flat(tree: Mapping[str, Any], between: str) -> Iterator[tuple[str, Any]]:
    """(path, value) of every leaf; a list is a leaf."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}{between}{below}", leaf) for below, leaf in flat(value, between))
        else:
            yield str(key), value
