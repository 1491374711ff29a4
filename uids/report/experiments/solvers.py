"""The influence solvers beside each other: iterations, seconds, and the error of φ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

from uids.backends import Array
from uids.report.section import Run, Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEAD = ["set", "solver", "iterations", "seconds", "residual", "error of φ", "Pearson", "status"]
ERROR = (
    "The error of φ is the largest over the rows, relative to max|φ|, against the direct solver "
    "(where it did not run, against the one with the smallest residual). Seconds are of the "
    "influence stage: the solve and one product."
)


def sections(runs: list[Run]) -> list[Section]:
    lines = [line for group in by_problem(runs) for line in compared(group)]
    rows = [HEAD]
    for line in lines:
        cells = [f"{line[key]:.1e}" for key in ("residual", "error")]
        seconds = f"{line['seconds']:.3f}"
        name = [line["set"], line["solver"], str(line["iterations"]), seconds]
        rows.append([*name, *cells, f"{line['pearson']:.6f}", line["status"]])
    return [Section("Solvers", rows, 2, (ERROR,), "solvers", figure(lines))]


def by_problem(runs: list[Run]) -> list[list[Run]]:
    """Runs that differ in nothing but their solver stand together."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        key = {name: value for name, value in run.config.items() if name != "solver"}
        groups.setdefault(repr(key), []).append(run)
    return list(groups.values())


def compared(group: list[Run]) -> list[dict[str, Any]]:
    exact = [run for run in group if run.config["solver"]["name"] == "direct"]
    closest = min(group, key=lambda run: run.metrics["influence"]["relative_residual"])
    reference = phi((exact or [closest])[0])
    found = []
    for run in group:
        influence, own = run.metrics["influence"], phi(run)
        found.append(
            {
                "set": run.metrics["dataset"]["name"],
                "solver": run.config["solver"]["name"],
                "iterations": influence["iterations"],
                "seconds": run.metrics["seconds"]["influence"],
                "residual": influence["relative_residual"],
                "error": float(np.abs(own - reference).max() / np.abs(reference).max()),
                "pearson": float(np.corrcoef(own, reference)[0, 1]),
                "status": influence["status"].partition(" ")[0],
            }
        )
    return found


def phi(run: Run) -> Array:
    return np.asarray(pq.read_table(run.folder / "influence.parquet", columns=["influence"])[0])


def figure(lines: list[dict[str, Any]]) -> Figure:
    """Error against seconds: the nearer to the lower left corner, the better."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(6.5, 4.2), layout="constrained")
    axes = drawn.subplots()
    for name in dict.fromkeys(line["set"] for line in lines):
        mine = [line for line in lines if line["set"] == name]
        errors = [max(line["error"], 1e-17) for line in mine]  # 0 has no place on a log scale
        axes.scatter([line["seconds"] for line in mine], errors, label=name)
        for line, error in zip(mine, errors, strict=True):
            place = line["seconds"], error
            axes.annotate(line["solver"], place, (4, 4), textcoords="offset points", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("largest error of φ / max|φ|")
    drawn.legend(loc="outside upper center", ncols=3)
    return drawn
