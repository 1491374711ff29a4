"""The files of a sweep, built from those of its runs and nothing else.

| file          | what                                                       |
|---------------|------------------------------------------------------------|
| summary.csv   | one line a run; its columns are in ``summary_csv.py``      |
| summary.md    | the tables                                                 |
| figures/*.png | the figures                                                |
| report.html   | tables and figures, one self-contained file                |
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from uids.report.experiments import experiment_sections
from uids.report.metrics_file import METRICS, read_metrics, whole_or_damaged
from uids.report.points import points_sections
from uids.report.section import Run
from uids.report.summary_csv import csv_text, line_of
from uids.report.sweep_file import read_plan
from uids.report.sweep_page import FULL, PAGE, brief_page, run_pages, sweep_page
from uids.system.files import write_text


class Summary(NamedTuple):
    text: str  # the table for the terminal
    done: set[str]  # the runs that ended well


def write_summary(folder: Path, page: bool = True, again: bool = True) -> Summary:
    """Write all of them; without ``page`` a brief one in its place and no figures, and without
    ``again`` nothing where that page and the tables are there and have not changed."""
    report, points = read_plan(folder)
    lines, runs = [], []
    for point in points:
        metrics = read_metrics(folder / point["run"])
        with whole_or_damaged(folder / point["run"] / METRICS):
            lines.append(line_of(point, metrics))
        if metrics["status"] == "ok":
            runs.append(Run(folder / point["run"], metrics))
    count = f"{len(runs)} of {len(lines)} runs done"
    with whole_or_damaged(folder / "*" / METRICS):
        pages = run_pages(folder, lines)
        sections = [*experiment_sections(report, runs), *points_sections(lines, pages)]
        tables = "\n".join(section.markdown() for section in sections)
        texts = {"summary.csv": csv_text(lines), "summary.md": f"{tables}\n{count}\n"}
        if again or not is_written(folder, texts, page):
            html = sweep_page(folder, sections, lines, runs) if page else brief_page(folder, lines)
            write_text(folder / "summary.csv", texts["summary.csv"])
            write_text(folder / PAGE, html)
            write_text(folder / "summary.md", texts["summary.md"])
    text = f"\n{sections[0].text()}\n\n{count}; table: {folder / 'summary.md'}"
    return Summary(text, {run.folder.name for run in runs})


def is_written(folder: Path, texts: Mapping[str, str], page: bool) -> bool:
    """Whether the files are there with this text, and that page, or the brief one, beside them."""
    try:
        same = all((folder / name).read_text("utf-8") == text for name, text in texts.items())
        return same and page == (FULL in (folder / PAGE).read_text("utf-8"))
    except (OSError, ValueError):
        return False
