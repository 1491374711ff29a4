"""A ``Result`` in a notebook and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from uids.pipeline.metrics import Metrics, PlainMeasures
from uids.scoring.shown import KEPT, OTHER, draw_influence, most_harmful
from uids.system.display import paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uids.pipeline.result import Result


def result_html(result: Result) -> str:
    """The conclusion, the models side by side, and the harmful rows that were dropped."""
    metrics = result.metrics
    part, models = judged(metrics)
    lines = [
        (name, *(number(value) for value in (m["logloss"], m["accuracy"], m["auc"])))
        for name, m in models.items()
    ]
    head = ("trained on", f"{part} logloss", "accuracy", "auc")
    dropped = [
        (
            result.row[i],
            result.label[i],
            f"{result.influence[i]:.4g}",
            f"{result.change[i]:+.3g}",
            f"{result.label_error[i]:.0%}",
            "" if result.suggested_label[i] == result.label[i] else result.suggested_label[i],
        )
        for i in most_harmful(result.influence, ~result.kept)
    ]
    columns = ("row", "label", "φ", "change", "label wrong", "suggested label")
    kept = f"{metrics['subset']['size']:,.0f} of {len(result.row):,} training rows kept."
    return (
        paragraph(metrics["conclusion"]["sentence"])
        + table(head, lines)
        + paragraph(kept)
        + (table(columns, dropped, "dropped rows that harm most") if dropped else "")
    )


def judged(metrics: Metrics) -> tuple[str, dict[str, PlainMeasures]]:
    """The models that were compared, on test rows where there are some, else on validation rows."""
    if metrics.get("baselines"):
        return "test", {name_of(key): each["test"] for key, each in metrics["baselines"].items()}
    return "validation", {
        "full": metrics["full"]["validation"],
        "subset": metrics["subset"]["validation"],
    }


def name_of(baseline: str) -> str:
    """tuned_full_plus_validation ↦ full + validation, tuned"""
    name = baseline.removeprefix("tuned_").replace("_plus_", " + ")
    return f"{name}, tuned" if baseline.startswith("tuned_") else name


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def plot_result(result: Result, axes: Sequence[Axes] | None) -> Sequence[Axes]:
    """On two axes: the loss of each model, and φ of the rows that were kept and dropped."""
    if axes is None:
        from matplotlib import pyplot

        axes = list(pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")[1])
    left, right = axes
    part, models = judged(result.metrics)
    losses = [measures["logloss"] for measures in models.values()]
    best = min(losses)
    colours = [KEPT if loss == best else OTHER for loss in losses]
    left.barh(list(models), losses, color=colours)
    left.invert_yaxis()  # the first above the others, as in the tables
    left.set_xlabel(f"{part} logloss   (blue: the lowest)")
    draw_influence(right, result.influence, result.kept)
    return axes
