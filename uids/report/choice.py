"""The curve by which ``ratio=auto`` chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uids.report.figures import BLUE, GREY, RED

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def selection_figure(selection: dict[str, Any]) -> Figure:
    """Mean held-out difference to the full set ± its standard error against the ratio; a line for
    each α, the chosen point in red."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4), layout="constrained")
    axes = figure.subplots()
    alphas = selection.get("alpha") or [None] * len(selection["grid"])
    points = list(
        zip(selection["grid"], alphas, selection["mean"], selection["standard_error"], strict=True)
    )
    lines: dict[Any, list[tuple[float, float, float]]] = {}
    for ratio, alpha, mean, error in points:
        if alpha is not None or "alpha" not in selection:
            lines.setdefault(alpha, []).append((ratio, mean, error))
    for alpha, line in lines.items():
        ratios, means, errors = zip(*sorted(line), strict=True)
        label = "mean ± standard error" if alpha is None else f"α = {alpha:g}"
        colour = BLUE if len(lines) == 1 else None
        axes.errorbar(ratios, means, errors, marker=".", capsize=3, color=colour, label=label)
    axes.axhline(0, color=GREY, linewidth=0.8, label="full set")
    chosen = chosen_point(selection, points)
    axes.plot(*chosen, "o", color=RED, markersize=9, fillstyle="none", label="chosen")
    axes.set_xlabel("ratio: share of the training rows kept")
    axes.set_ylabel("held-out validation logloss − full set")
    figure.legend(loc="outside upper center", ncols=4)
    return figure


def chosen_point(
    selection: dict[str, Any], points: list[tuple[float, Any, float, float]]
) -> tuple[float, float]:
    """(ratio, mean) of the chosen candidate: of its ratio the one with the smallest mean."""
    means = [mean for ratio, _, mean, _ in points if ratio == selection["chosen"]]
    return selection["chosen"], min(means)
