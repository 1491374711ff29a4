"""Figures of a run, drawn without a display."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

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


def png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    return buffer.getvalue()
