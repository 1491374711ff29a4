"""Where a run advises another recipe than that of its own model."""

from __future__ import annotations

from pathlib import Path

from uids.pipeline.conclusion import WORDS
from uids.pipeline.judge import FINAL_NAMES
from uids.pipeline.metrics import Metrics
from uids.report.metrics_file import read_metrics


def other_advice(metrics: Metrics) -> str:
    """What is advised in its place, in one line; empty where the model is the advised one. What was
    chosen has been made: only where everything was given can they differ."""
    conclusion, final = metrics.get("conclusion"), metrics["config"].get("final", "subset")
    if not conclusion or metrics.get("selection") or final not in FINAL_NAMES:
        return ""
    own = FINAL_NAMES[final]
    if metrics["config"]["ratio"] == 1:  # the subset is the full set
        own = own.replace("subset", "full")
    if conclusion["use"] == own:
        return ""
    advised = conclusion["sentence"].removeprefix("Use ").partition(":")[0]
    key = next((key for key, name in FINAL_NAMES.items() if name == conclusion["use"]), None)
    how = f"final={key} makes the advised one" if key else "auto=true tunes and weighs"
    return f"note: this run advised {advised}; its model is that of {WORDS[own]} ({how})"


def advice_of(folder: Path) -> str:
    """The same of a run's folder; empty where there is no finished run."""
    metrics = read_metrics(folder)
    return other_advice(metrics) if metrics["status"] == "ok" else ""
