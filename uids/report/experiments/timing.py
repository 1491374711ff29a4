"""How long influence takes on each data set, beside the paper's times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uids.report.figures import BLUE, RED
from uids.report.section import Run, Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = {  # seconds, table 3 of the paper, on its authors' machines
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
    "paper's are of other machines and, for Criteo and Avazu, of the whole files: a figure to "
    "compare the order of magnitude by, no more."
)


def sections(runs: list[Run]) -> list[Section]:
    rows = [HEAD]
    for run in runs:
        data, influence, seconds = (run.metrics[k] for k in ("dataset", "influence", "seconds"))
        solver = influence["solver"].partition(":")[0] or run.config["solver"]["name"]
        paper = PAPER.get(data["name"])
        rows.append(
            [
                data["name"],
                f"{data['rows']['train']:,}",
                f"{data['features']:,}",
                solver,
                str(influence["iterations"]),
                f"{seconds['fit']:.3f}",
                f"{seconds['influence']:.3f}",
                "" if paper is None else f"{paper:.2f}",
            ]
        )
    return [Section("Influence time", rows, 1, (SECONDS,), "timing", figure(runs))]


def figure(runs: list[Run]) -> Figure:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(6.5, 1.2 + 0.4 * len(runs)), layout="constrained")
    axes = drawn.subplots()
    place = np.arange(len(runs))
    names = [run.metrics["dataset"]["name"] for run in runs]
    axes.barh(place, [run.metrics["seconds"]["influence"] for run in runs], color=BLUE)
    there = [i for i, name in enumerate(names) if name in PAPER]
    told = [PAPER[names[i]] for i in there]
    axes.plot(told, place[there], linestyle="", marker="x", color=RED, label="paper")
    axes.set_yticks(place, names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("seconds of the influence stage")
    if there:
        axes.legend()
    return drawn
