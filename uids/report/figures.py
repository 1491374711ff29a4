"""Figures, drawn without a display: colours, panels, files, and the figures of one run."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from uids.backends import Array
from uids.pipeline.metrics import SelectionMetrics
from uids.selection.measures import OF_CLASSES
from uids.system.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What was kept, and what was measured here.
BLUE = "#3b6ea5"
# What was dropped or chosen, and what others have measured.
RED = "#c44e52"
# What everything else is compared with: 0, or the full set.
GREY = "#8c8c8c"


def new_figure(width: float, height: float) -> Figure:
    """In inches, with room made for a legend outside its axes."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def panels(
    count: int, columns: int, panel: tuple[float, float], margin: tuple[float, float]
) -> tuple[Figure, list[Axes]]:
    """A figure with ``count`` axes, in rows of ``columns`` at most. The sizes are (width, height)
    in inches: of a panel, and of what the whole figure has beside its panels."""
    across = min(columns, count)
    down = -(-count // across)
    figure = new_figure(panel[0] * across + margin[0], panel[1] * down + margin[1])
    axes = list(figure.subplots(down, across, squeeze=False).ravel())
    for unused in axes[count:]:
        unused.set_axis_off()
    return figure, axes[:count]


LINE, LETTER = 0.55, 0.075  # inches that the line of a legend takes, and a letter of its text


def shared_legend(figure: Figure, axes: Axes, columns: int) -> None:
    """The legend of one panel below all of them."""
    handles, labels = axes.get_legend_handles_labels()
    longest = max((len(str(label)) for label in labels), default=1)
    room = int(figure.get_figwidth() / (LINE + LETTER * longest))
    ncols = max(1, min(columns, len(labels), room))
    figure.legend(handles, labels, loc="outside lower center", ncols=ncols)


def png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    return buffer.getvalue()


def write_png(folder: Path, name: str, figure: Figure) -> bytes:
    """The figure as PNG, for a page; it is also in ``folder/figures`` then."""
    picture = png(figure)
    with replacing(folder / "figures" / f"{name}.png") as temporary:
        temporary.write_bytes(picture)
    return picture


def bin_edges(phi: Array, bins: int = 60) -> Array:
    """Of numbers that are all but equal too, which numpy refuses: there is no room between them."""
    low, high = float(phi.min()), float(phi.max())
    least = 1e-9 * max(abs(low), abs(high)) or 0.5
    margin = least if high - low < least else 0.0
    return np.linspace(low - margin, high + margin, bins + 1)


@dataclass(frozen=True)
class Binned:
    """The rows in bins of φ, of which there is one less than edges."""

    edges: Array
    count: Array
    kept: Array  # how many of them
    pi: Array  # its mean: a curve when π is a function of φ, and readable if not; else 0


def binned(phi: Array, pi: Array, kept: Array) -> Binned:
    edges = bin_edges(phi)
    count, _ = np.histogram(phi, edges)
    kept_count, _ = np.histogram(phi[kept], edges)
    total, _ = np.histogram(phi, edges, weights=pi)
    return Binned(edges, count, kept_count, total / np.maximum(count, 1))


def influence_figure(phi: Array, pi: Array, kept: Array, chance: bool = True) -> Figure:
    """How many rows have which φ, the share of them that was kept, and π over it, unless the
    sampler leaves nothing to chance: then π is no probability."""
    figure = new_figure(7.5, 4)
    axes = figure.subplots()
    bins = binned(phi, pi, kept)
    axes.stairs(bins.count, bins.edges, fill=True, color=RED, label="all rows")
    axes.stairs(bins.kept, bins.edges, fill=True, color=BLUE, label="kept of them")
    count_rows(axes)
    axes.set_xlabel("influence φ   (right of 0: the row harms)")
    axes.set_ylabel("training rows")
    axes.axvline(0, color=GREY, linewidth=0.8)
    if chance:
        right, filled = axes.twinx(), bins.count > 0
        middle, mean = (bins.edges[:-1] + bins.edges[1:]) / 2, bins.pi
        right.plot(middle[filled], mean[filled], color="black", marker=".", linewidth=1, label="π")
        right.set_ylim(-0.02, 1.02)
        right.set_ylabel("probability π")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def count_rows(axes: Axes) -> None:
    """The y axis as numbers of rows, from 1 to millions. Written plainly: powers of ten and the
    ticks between them take as long to draw as all the rest."""
    from matplotlib.ticker import LogLocator

    axes.set_yscale("log")
    axes.set_ylim(bottom=0.5)  # or a bin with one row would have no height
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.minorticks_off()


def selection_figure(selection: SelectionMetrics) -> Figure:
    """What the walk has tried: the mean held-out difference to where it began ± its standard error
    against the ratio; a line for each way of dropping with its C and weight, what was chosen in
    red."""
    figure = new_figure(7.5, 4.5)
    axes = figure.subplots()
    lines = selection_lines(selection)
    for label, points in lines.items():
        ratios, means, errors = zip(*sorted(points), strict=True)
        colour = BLUE if len(lines) == 1 else None
        axes.errorbar(ratios, means, errors, marker=".", capsize=3, color=colour, label=label)
    axes.axhline(0, color=GREY, linewidth=0.8, label="start")
    ratio, mean = chosen_point(selection)
    axes.plot(ratio, mean, "o", color=RED, markersize=9, fillstyle="none", label="chosen")
    axes.set_xlabel("ratio: share of the training rows kept")
    measure = selection.get("metric", "logloss")
    name = f"1 − {measure}" if measure in OF_CLASSES else measure
    axes.set_ylabel(f"held-out validation {name} − start")
    figure.legend(loc="outside upper center", ncols=3, fontsize="small")
    return figure


def selection_lines(selection: SelectionMetrics) -> dict[str, list[tuple[float, float, float]]]:
    """What a line has in common ↦ (ratio, mean, standard error) of its candidates. What drops
    nothing begins every line of its C and weight."""
    points = list(
        zip(selection["grid"], selection["mean"], selection["standard_error"], strict=True)
    )
    keys: dict[str, list[object]] = {
        "α": list(selection.get("alpha") or []),
        "C": list(selection.get("C") or []),
        "weight": list(selection.get("validation_weight") or []),
        "stratify": list(selection.get("stratify") or []),
    }
    samplers = selection.get("sampler") or [None] * len(points)
    told = [
        key for key, values in keys.items() if len({str(v) for v in values if v is not None}) > 1
    ]

    def label(i: int, names: list[str]) -> str:
        words = [f"{key} = {keys[key][i]}" for key in names if keys[key][i] is not None]
        return ", ".join([*([samplers[i] or "nothing dropped"]), *words])

    lines: dict[str, list[tuple[float, float, float]]] = {}
    whole = [key for key in told if key in ("C", "weight")]
    for i, point in enumerate(points):
        if point[0] < 1:
            lines.setdefault(label(i, told), []).append(point)
            continue
        same = [
            j
            for j, other in enumerate(points)
            if other[0] < 1 and all(keys[key][j] == keys[key][i] for key in whole)
        ]
        for line in {label(j, told) for j in same} or {label(i, whole)}:
            lines.setdefault(line, []).append(point)
    return lines


def chosen_point(selection: SelectionMetrics) -> tuple[float, float]:
    """(ratio, mean) of the chosen candidate."""
    place = selection["picked"]
    return selection["grid"][place], selection["mean"][place]
