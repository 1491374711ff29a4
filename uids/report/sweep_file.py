"""``sweep.json``: which runs belong to a sweep, and which report it ends in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TypedDict

from uids.errors import UidsError, unknown
from uids.report.experiments import POINTS, REPORTS
from uids.system.files import write_json

PLAN = "sweep.json"


class PlannedPoint(TypedDict):
    """``config`` is empty where it could not be composed; ``skipped`` says why the point is not
    meant to run, if it is not."""

    run: str
    overrides: list[str]
    config: dict[str, object]
    skipped: str


def write_plan(folder: Path, points: Sequence[Mapping[str, object]], report: str = POINTS) -> None:
    """Before the first run starts. Of each point, what ``PlannedPoint`` has is kept."""
    keys = ("run", "overrides", "config", "skipped")
    listed = [{key: point[key] for key in keys} for point in points]
    write_json(folder / PLAN, {"report": report, "points": listed})


def read_plan(folder: Path) -> tuple[str, list[PlannedPoint]]:
    """The report and the points of the latest sweep into this folder; without a plan, every run
    that is in it."""
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        points = [
            PlannedPoint(
                run=str(point["run"]),
                overrides=[str(word) for word in point["overrides"]],
                config=dict(point["config"] or {}),
                skipped=str(point.get("skipped", "")),
            )
            for point in plan["points"]
        ]
        report = str(plan.get("report", POINTS))
    except FileNotFoundError:
        return POINTS, unplanned(folder)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise UidsError(f"{folder / PLAN} is damaged: remove it and try again") from error
    if report not in REPORTS:
        raise UidsError(f"{folder / PLAN}: {unknown('report', report, REPORTS)}")
    outside = [point["run"] for point in points if not is_below(point["run"])]
    if outside or not points:
        seen = f"the run {outside[0]!r} is not below its folder" if outside else "it has no points"
        raise UidsError(f"{folder / PLAN} is damaged: {seen}; remove it and try again")
    return report, points


def is_below(run: str) -> bool:
    """Whether it names a folder within that of the sweep."""
    path = PurePath(run)
    outside = path.is_absolute() or ".." in path.parts or "\0" in run
    return bool(path.parts) and not outside


def unplanned(folder: Path) -> list[PlannedPoint]:
    """Every run that is in the folder."""
    runs = sorted(path.parent.name for path in folder.glob("*/metrics.json"))
    if not runs:
        raise UidsError(f"{str(folder)!r} holds neither a run nor a sweep")
    return [PlannedPoint(run=run, overrides=[], config={}, skipped="") for run in runs]
