"""An ``Influence`` on one line, in a notebook, and as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uids.backends import Array
from uids.system.display import paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uids.scoring.influence import Influence

LISTED = 10  # rows that a notebook shows of those that harm most
BINS = 60  # of a histogram
KEPT, DROPPED, OTHER = "#3b6ea5", "#c44e52", "#8c8c8c"  # the colours of the report


def influence_line(influence: Influence) -> str:
    """``<uids.Influence: …>``"""
    return f"<uids.Influence: {described(influence)}>"


def described(influence: Influence) -> str:
    """Of how many rows, how many harm, and whether that can be trusted."""
    phi, solution = influence.phi, influence.solution
    return (
        f"{len(phi):,} training rows on {len(influence.validation):,} validation rows; "
        f"{(phi > 0).mean():.1%} harm (φ > 0), φ from {phi.min():.3g} to {phi.max():.3g}; "
        f"solve: {solution.status}, relative residual {solution.relative_residual:.0e}, "
        f"identity error {influence.identity_error:.0e}"
    )


def influence_html(influence: Influence) -> str:
    """The rows that harm most: their positions in what was handed in, from 0."""
    phi, y = influence.phi, influence.train.y
    scale = len(phi) * len(influence.validation)
    lines = [
        (i, y[i], f"{phi[i]:.4g}", f"{-phi[i] / scale:+.3g}")
        for i in most_harmful(phi, np.ones(len(phi), dtype=bool))
    ]
    head = (
        "row",
        "class" if influence.train.classes else "y",
        "φ",
        "change of the mean validation loss if dropped",
    )
    return paragraph(described(influence)) + table(head, lines, "the rows that harm most")


def most_harmful(phi: Array, of: Array) -> Array:
    """Positions of the largest φ above 0 among some rows, the largest first."""
    order = np.argsort(-phi, kind="stable")
    return order[(phi[order] > 0) & of[order]][:LISTED]


def draw_influence(axes: Axes, phi: Array, kept: Array | None = None) -> None:
    """How many rows have which φ; with ``kept``, a mask, how many of them stay."""
    edges = np.histogram_bin_edges(phi, bins=BINS)
    middle, width = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    count, _ = np.histogram(phi, edges)
    if kept is None:
        axes.bar(middle, count, width, color=np.where(middle > 0, DROPPED, KEPT))
    else:
        stay, _ = np.histogram(phi[kept], edges)
        axes.bar(middle, count, width, color=DROPPED, label="dropped")
        axes.bar(middle, stay, width, color=KEPT, label="kept")
        axes.legend()
    axes.axvline(0, color=OTHER, linewidth=0.8)
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.5)  # or a bin with one row would have no height
    axes.set_xlabel("influence φ   (right of 0: the row harms)")
    axes.set_ylabel("training rows")


def plot_influence(influence: Influence, axes: Axes | None) -> Axes:
    if axes is None:
        from matplotlib import pyplot

        axes = pyplot.subplots(figsize=(7.5, 4), layout="constrained")[1]
    draw_influence(axes, influence.phi)
    return axes
