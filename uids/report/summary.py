"""The files of a sweep, built from those of its runs and nothing else.

| file          | what                                                       |
|---------------|------------------------------------------------------------|
| summary.csv   | one line a run; its columns are in ``summary_csv.py``      |
| summary.md    | the tables                                                 |
| figures/*.png | the figures                                                |
| report.html   | tables and figures, one self-contained file                |
"""

from __future__ import annotations

from pathlib import Path

from uids.report.experiments import experiment_sections
from uids.report.points import points_sections
from uids.report.run import METRICS, read_metrics, whole_or_damaged
from uids.report.section import Run
from uids.report.summary_csv import csv_text, line_of
from uids.report.sweep_file import read_plan
from uids.report.sweep_page import run_pages, sweep_page
from uids.system.files import write_text


def write_summary(folder: Path) -> str:
    """Write all of them. Returns the table for the terminal."""
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
        page = sweep_page(folder, sections, lines, runs)
    markdown = "\n".join(section.markdown() for section in sections)
    write_text(folder / "summary.csv", csv_text(lines))
    write_text(folder / "report.html", page)
    write_text(folder / "summary.md", f"{markdown}\n{count}\n")
    return f"\n{sections[0].text()}\n\n{count}; table: {folder / 'summary.md'}"
