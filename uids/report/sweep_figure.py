"""The figure of a sweep: what the key with the most values did to the measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from uids.pipeline.metrics import PARTS
from uids.report.figures import GREY, new_figure, shared_legend
from uids.report.summary_csv import Line, judged_by
from uids.selection.measures import loss_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The title of each panel, the column of the subset, and that of the full set, if it has one.
Panel = tuple[str, str, str]
# The largest value of a key over its smallest, beyond which its axis is logarithmic.
WIDE = 20


def panels_of(lines: Sequence[Line]) -> list[Panel]:
    """What may be drawn of a sweep."""
    loss = judged_by(lines)
    columns = [(f"{part} {loss}", f"{part}_{loss_key(loss)}") for part in PARTS]
    named = [*columns, ("test accuracy", "test_accuracy")]
    panels: list[Panel] = [(title, f"subset_{each}", f"full_{each}") for title, each in named]
    panels.append(("Γ = ‖θ̃ − θ̂‖²", "gamma", ""))
    return panels


def sweep_figure(lines: Sequence[Line], keys: Sequence[str]) -> Figure | None:
    """A panel for each measure, over the numeric key with the most values; a curve for each
    combination of the other keys, dotted for the full set. None when nothing numeric was swept."""
    key = max(keys, key=lambda each: len(set(numeric_values(lines, each))), default="")
    values = set(numeric_values(lines, key))
    if len(values) < 2:
        return None
    curves = by_other_keys(lines, key, [other for other in keys if other != key])
    known = lines[0].numbers
    drawn = [each for each in panels_of(lines) if not each[2] or known.get(each[2]) is not None]
    down = (len(drawn) + 1) // 2
    figure = new_figure(8.6, 3.2 * down + 0.6)
    grid = figure.subplots(down, 2).ravel()
    for unused in grid[len(drawn) :]:
        unused.set_axis_off()
    for axes, (title, subset, full) in zip(grid, drawn, strict=False):
        draw_panel(axes, curves, key, subset, full)
        axes.set_xlabel(key)
        axes.set_title(title, fontsize="medium")
        if min(values) > 0 and max(values) / min(values) > WIDE:
            axes.set_xscale("log")
    axes.plot([], [], linestyle=":", color=GREY, linewidth=1, label="full set")
    shared_legend(figure, axes, 5)
    return figure


def numeric_values(lines: Sequence[Line], key: str) -> list[float]:
    """One a line; none at all where one of them is no number."""
    values = [line.config.get(key) for line in lines]
    numeric = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    return numeric if len(numeric) == len(values) else []


def by_other_keys(lines: Sequence[Line], key: str, others: Sequence[str]) -> dict[str, list[Line]]:
    """Label ↦ the lines of one curve, in the order of ``key``."""
    ordered = zip(numeric_values(lines, key), lines, strict=True)
    curves: dict[str, list[Line]] = {}
    for _, line in sorted(ordered, key=lambda pair: pair[0]):
        label = curve_label(line, others)
        curves.setdefault(label, []).append(line)
    return curves


def curve_label(line: Line, keys: Sequence[str]) -> str:
    """What a run has of the keys, by their names."""
    return ", ".join(f"{key}={line.shown(key)}" for key in keys if line.shown(key))


def draw_panel(axes: Axes, curves: dict[str, list[Line]], key: str, subset: str, full: str) -> None:
    for label, curve in curves.items():
        x = numeric_values(curve, key)
        axes.plot(x, column(curve, subset), marker=".", label=label or "subset")
        if full:
            axes.plot(x, column(curve, full), ":", color=GREY, linewidth=1)


def column(lines: Sequence[Line], name: str) -> list[float]:
    """A number that is not known leaves a gap in its curve."""
    values = [line.numbers[name] for line in lines]
    return [float("nan") if value is None else value for value in values]
