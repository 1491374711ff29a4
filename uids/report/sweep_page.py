"""``report.html`` of a sweep: what its template is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from uids.report.page import render
from uids.report.section import Section
from uids.report.summary_csv import Line, varying

FILES = {
    "summary.csv": "one line a run, every number",
    "summary.md": "the tables",
    "sweep.json": "the points of the sweep",
}
WRITTEN = ("summary.csv", "summary.md")  # together with the page, so that they are not looked for


def sweep_page(folder: Path, sections: Sequence[Section], lines: Sequence[Line]) -> str:
    """The page; the figures of the sections are written on the way."""
    figures = [(section, section.picture(folder)) for section in sections]
    files = [name for name in FILES if name in WRITTEN or (folder / name).is_file()]
    return render(
        "sweep.html",
        name=folder.resolve().name,
        sections=figures,
        keys=varying(lines),
        done=sum(line.ok for line in lines),
        total=len(lines),
        failed=[line for line in lines if line.status == "failed"],
        files=[(name, FILES[name]) for name in files],
    )


def run_pages(folder: Path, lines: Sequence[Line]) -> dict[str, str]:
    """Run ↦ the address of its page, of those that have one."""
    pages = {line.run: f"{quote(line.run)}/report.html" for line in lines}
    return {run: page for run, page in pages.items() if (folder / run / "report.html").is_file()}
