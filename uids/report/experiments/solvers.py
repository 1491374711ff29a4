"""The influence solvers beside each other: iterations, seconds, and the error of φ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from uids.backends import Array
from uids.report.figures import new_figure
from uids.report.section import Run, Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEAD = ["set", "solver", "iterations", "seconds", "residual", "error of φ", "Pearson", "status"]
ERROR = (
    "The error of φ is the largest over the rows, relative to max|φ|. It is measured against the "
    "direct solver, or where that did not run, against the solver with the smallest residual. "
    "Seconds are those of the influence stage: the solve and one product."
)
# In place of an error of 0, which has no place on a logarithmic axis.
NO_ERROR = 1e-17


@dataclass(frozen=True)
class Accuracy:
    """One run against the reference of its problem."""

    run: Run
    error: float  # max|φ − reference| / max|reference|
    pearson: float


def sections(runs: list[Run]) -> list[Section]:
    compared = [each for group in by_problem(runs) for each in accuracies(group)]
    rows = [HEAD]
    for each in compared:
        influence, seconds = each.run.metrics["influence"], each.run.metrics["seconds"]
        rows.append(
            [
                each.run.dataset,
                each.run.solver,
                str(influence["iterations"]),
                f"{seconds['influence']:.3f}",
                f"{influence['relative_residual']:.1e}",
                f"{each.error:.1e}",
                f"{each.pearson:.6f}",
                influence["status"].partition(" ")[0],
            ]
        )
    return [Section("Solvers", rows, 2, (ERROR,), "solvers", partial(figure, compared))]


def by_problem(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs that differ in nothing but their solver stand together."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        config = run.metrics["config"]
        key = {name: value for name, value in config.items() if name != "solver"}
        groups.setdefault(repr(key), []).append(run)
    return list(groups.values())


def accuracies(group: Sequence[Run]) -> list[Accuracy]:
    exact = [run for run in group if run.solver == "direct"]
    closest = min(group, key=lambda run: run.metrics["influence"]["relative_residual"])
    reference = phi((exact or [closest])[0])
    largest = np.abs(reference).max()
    compared = []
    for run in group:
        values = phi(run)
        error = float(np.abs(values - reference).max() / largest)
        compared.append(Accuracy(run, error, float(np.corrcoef(values, reference)[0, 1])))
    return compared


def phi(run: Run) -> Array:
    return np.asarray(pq.read_table(run.folder / "influence.parquet", columns=["influence"])[0])


def figure(compared: Sequence[Accuracy]) -> Figure:
    """Error against seconds: the nearer to the lower left corner, the better."""
    drawn = new_figure(6.5, 4.2)
    axes = drawn.subplots()
    for name in dict.fromkeys(each.run.dataset for each in compared):
        of_set = [each for each in compared if each.run.dataset == name]
        seconds = [each.run.metrics["seconds"]["influence"] for each in of_set]
        errors = [max(each.error, NO_ERROR) for each in of_set]
        axes.scatter(seconds, errors, label=name)
        places = zip(seconds, errors, strict=True)
        for each, place in zip(of_set, places, strict=True):
            axes.annotate(each.run.solver, place, (4, 4), textcoords="offset points", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("largest error of φ / max|φ|")
    drawn.legend(loc="outside upper center", ncols=3)
    return drawn
