"""``report.html`` of a sweep: what its template is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from uids.report.page import Link, render
from uids.report.section import Run, Section
from uids.report.summary_csv import Line
from uids.report.sweep_conclusion import best_points, commands, shared, title, who_chose

FILES = {
    "summary.csv": "one line a run, every number",
    "summary.md": "the tables",
    "sweep.json": "the points of the sweep",
}
PAGE = "report.html"
FULL = "<section id=files>"  # what the page has, and the brief one in its place has not
WRITTEN = ("summary.csv", "summary.md")  # together with the page, so that they are not looked for


MOST_SETS = 5  # data sets whose sizes are told
MOST_SETTINGS = 9  # shared ones that are named in a sentence; the table below has all


def sweep_page(
    folder: Path, sections: Sequence[Section], lines: Sequence[Line], runs: Sequence[Run]
) -> str:
    """The page; the figures of the sections are written on the way."""
    figures = [(section, section.picture(folder)) for section in sections]
    files = [name for name in FILES if name in WRITTEN or (folder / name).is_file()]
    return render(
        "sweep.html",
        name=folder.resolve().name,
        sections=figures,
        title=title(lines),
        best=best_points(lines),
        who_chose=who_chose(lines),
        data=data_sets(runs),
        shared=shared(lines),
        most_settings=MOST_SETTINGS,
        commands=commands([run.metrics.get("command", "") for run in runs]),
        done=sum(line.ok for line in lines),
        total=len(lines),
        failed=[line for line in lines if line.status == "failed"],
        files=[(name, FILES[name]) for name in files],
        uncharted=any(not (run.folder / "figures").is_dir() for run in runs),
    )


def brief_page(folder: Path, lines: Sequence[Line]) -> str:
    """In the place of the page: how to have it."""
    return render(
        "brief.html",
        title=title(lines),
        sentences=best_points(lines),
        files=[Link(name, name, what) for name, what in FILES.items()],
    )


def data_sets(runs: Sequence[Run]) -> list[str]:
    """The sizes of each, of a few; the names alone of many."""
    told = {}
    for run in runs:
        rows = run.metrics["dataset"]["rows"]
        told[run.dataset] = (
            f"{run.dataset}: {rows['train']:,} training, {rows['validation']:,} validation and "
            f"{rows['test']:,} test rows"
        )
    return list(told.values() if len(told) <= MOST_SETS else told)


def run_pages(folder: Path, lines: Sequence[Line]) -> dict[str, str]:
    """Run ↦ the address of its page, of those that have one."""
    pages = {line.run: f"{quote(line.run)}/{PAGE}" for line in lines}
    return {run: page for run, page in pages.items() if (folder / run / PAGE).is_file()}
