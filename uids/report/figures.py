"""Figures of a run, drawn without a display."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uids.backends import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, RED, GREY = "#3b6ea5", "#c44e52", "#8c8c8c"


def influence_figure(phi: Array, pi: Array, kept: Array) -> Figure:
    """How many rows have which φ, the share of them that was kept, and π over it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4), layout="constrained")
    axes = figure.subplots()
    edges = np.histogram_bin_edges(phi, bins=60)
    count, _ = np.histogram(phi, edges)
    held, _ = np.histogram(phi[kept], edges)
    middle, width = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    axes.bar(middle, count, width, color=RED, label="all rows")
    axes.bar(middle, held, width, color=BLUE, label="kept of them")
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.5)  # or a bin with one row would have no height
    axes.set_xlabel("influence φ   (right of 0: the row harms)")
    axes.set_ylabel("training rows")
    axes.axvline(0, color=GREY, linewidth=0.8)
    right = axes.twinx()
    # π as the mean over each bin: a curve when π is a function of φ, and still readable if not.
    total, _ = np.histogram(phi, edges, weights=pi)
    there = count > 0
    mean = total[there] / count[there]
    right.plot(middle[there], mean, color="black", marker=".", linewidth=1, label="π")
    right.set_ylim(-0.02, 1.02)
    right.set_ylabel("probability π")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def sweep_figure(lines: Sequence[dict[str, Any]], keys: Sequence[str]) -> Figure | None:
    """Logloss on validation and test rows, test accuracy and Γ, over the numeric key with the most
    values; a line for each combination of the other keys, dotted for the full set. None when
    nothing numeric was swept."""

    def values(key: str) -> set[float]:
        found: list[Any] = [each.get(key) for each in lines]
        numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in found)
        return set(found) if numeric else set()

    x = max(keys, key=lambda key: len(values(key)), default="")
    if len(values(x)) < 2:
        return None
    from matplotlib.figure import Figure

    others = [key for key in keys if key != x]
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in sorted(lines, key=lambda each: each[x]):
        label = ", ".join(str(each[key]) for key in others if each.get(key, "") != "")
        groups.setdefault(label, []).append(each)
    panels = [("validation_logloss", "validation logloss"), ("test_logloss", "test logloss")]
    panels = [*panels, ("test_accuracy", "test accuracy")]
    panels = [panel for panel in panels if lines[0].get(f"full_{panel[0]}") is not None]
    panels.append(("gamma", "Γ = ‖θ̃ − θ̂‖²"))
    down = (len(panels) + 1) // 2
    figure = Figure(figsize=(8.6, 3.2 * down + 0.6), layout="constrained")
    positive = min(values(x)) > 0 and max(values(x)) / min(values(x)) > 20
    for axes, (name, title) in zip(figure.subplots(down, 2).ravel(), panels, strict=True):
        own, full = (name, "") if name == "gamma" else (f"subset_{name}", f"full_{name}")
        for label, group in groups.items():
            xs = [each[x] for each in group]
            (drawn,) = axes.plot(xs, [each[own] for each in group], marker=".")
            drawn.set_label(label or "subset")
            if full:
                axes.plot(xs, [each[full] for each in group], ":", color=GREY, linewidth=1)
        axes.set_xlabel(x)
        axes.set_title(title, fontsize="medium")
        if positive:
            axes.set_xscale("log")
    axes.plot([], [], linestyle=":", color=GREY, linewidth=1, label="full set")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(5, len(labels)))
    return figure


def png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    return buffer.getvalue()
