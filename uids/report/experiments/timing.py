"""How long influence takes on each data set, beside the paper's times."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from uids.report.figures import BLUE, RED, new_figure
from uids.report.section import Run, Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Seconds, table 3 of the paper, on its authors' machines.
PAPER = {
    "diabetes_scale": 0.03,
    "news20": 2.77,
    "cifar10_cat_dog": 5.85,
    "criteo": 38.85,
    "avazu_app": 166.56,
    "avazu_site": 310.66,
}
HEAD = ["set", "training rows", "features", "solver", "iterations", "fit", "influence", "paper"]
SECONDS = (
    "Seconds, from metrics.json; influence is the solve and one product, without the fit. The "
    "paper's are of other machines and, for Criteo and Avazu, of the whole files: only the order "
    "of magnitude can be compared."
)


def sections(runs: list[Run]) -> list[Section]:
    rows = [HEAD]
    for run in runs:
        data, seconds = run.metrics["dataset"], run.metrics["seconds"]
        influence = run.metrics["influence"]
        solver = influence["solver"].partition(":")[0] or run.solver
        paper = PAPER.get(run.dataset)
        rows.append(
            [
                run.dataset,
                f"{data['rows']['train']:,}",
                f"{data['features']:,}",
                solver,
                str(influence["iterations"]),
                f"{seconds['fit']:.3f}",
                f"{seconds['influence']:.3f}",
                "" if paper is None else f"{paper:.2f}",
            ]
        )
    return [Section("Influence time", rows, 1, (SECONDS,), "timing", partial(figure, runs))]


def figure(runs: list[Run]) -> Figure:
    """A bar for each run, on a logarithmic axis, and the paper's time as a cross."""
    drawn = new_figure(6.5, 1.2 + 0.4 * len(runs))
    axes = drawn.subplots()
    place = np.arange(len(runs))
    names = [run.dataset for run in runs]
    axes.barh(place, [run.metrics["seconds"]["influence"] for run in runs], color=BLUE)
    timed = [i for i, name in enumerate(names) if name in PAPER]
    paper = [PAPER[names[i]] for i in timed]
    axes.plot(paper, place[timed], linestyle="", marker="x", color=RED, label="paper")
    axes.set_yticks(place, names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("seconds of the influence stage")
    if timed:
        axes.legend()
    return drawn
