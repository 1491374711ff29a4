"""A ``Result`` in a notebook and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from uids.pipeline.measured import loss_of, measured, shown_measures
from uids.pipeline.metrics import Metrics, PlainMeasures
from uids.scoring.shown import KEPT, OTHER, draw_influence, most_harmful
from uids.selection.measures import loss_key, loss_text
from uids.system.display import paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uids.pipeline.result import Result


def result_html(result: Result) -> str:
    """The conclusion, the models side by side, and the harmful rows that were dropped."""
    metrics = result.metrics
    part, models = judged(metrics)
    measures = {name: loss_key(name) for name in shown_measures(metrics)}
    lines = [
        (name, *(number(measured(m, key), measure) for measure, key in measures.items()))
        for name, m in models.items()
    ]
    loss, *others = measures
    head = ("trained on", f"{part} {loss}", *others)
    dropped = [
        (
            result.row[i],
            result.label[i],
            f"{result.influence[i]:.4g}",
            f"{result.change[i]:+.3g}",
            *audited(result, i),
        )
        for i in most_harmful(result.influence, ~result.kept)
    ]
    audit = ("label wrong", "suggested label") if result.label_error is not None else ()
    columns = ("row", "label", "φ", "change", *audit)
    kept = f"{metrics['subset']['size']:,.0f} of {len(result.row):,} training rows kept."
    return (
        paragraph(metrics["conclusion"]["sentence"])
        + table(head, lines)
        + paragraph(kept)
        + (table(columns, dropped, "dropped rows that harm most") if dropped else "")
    )


def audited(result: Result, i: int) -> tuple[str, ...]:
    """What the label audit says of a row, where there is one."""
    if result.label_error is None or result.suggested_label is None:
        return ()
    own, suggested = result.label[i], result.suggested_label[i]
    return f"{result.label_error[i]:.0%}", "" if suggested == own else str(suggested)


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


def number(value: float | None, measure: str) -> str:
    return "" if value is None else loss_text(value, measure)


def plot_result(result: Result, axes: Sequence[Axes] | None) -> Sequence[Axes]:
    """On two axes: the loss of each model, and φ of the rows that were kept and dropped."""
    if axes is None:
        from matplotlib import pyplot

        axes = list(pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")[1])
    left, right = axes
    part, models = judged(result.metrics)
    name = loss_of(result.metrics)
    losses = [measured(each, loss_key(name)) or 0.0 for each in models.values()]
    best = min(losses)
    colours = [KEPT if loss == best else OTHER for loss in losses]
    left.barh(list(models), losses, color=colours)
    left.invert_yaxis()  # the first above the others, as in the tables
    left.set_xlabel(f"{part} {name}   (blue: the lowest)")
    draw_influence(right, result.influence, result.kept)
    return axes
