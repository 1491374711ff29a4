"""A part of a report: a table, what there is to say about it, and a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from uids.pipeline.metrics import Metrics
from uids.report.chart import ChartGroup
from uids.report.figures import write_png
from uids.report.plain import plain_markdown
from uids.report.table import columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MARKS = "Bold: below the full set. Underlined: the best of its row."


class Run(NamedTuple):
    """A run of a sweep that went well: where its files are, and its metrics."""

    folder: Path
    metrics: Metrics

    @property
    def dataset(self) -> str:
        return self.metrics["dataset"]["name"]

    @property
    def sampler(self) -> str:
        return str(self.metrics["config"]["sampler"]["name"])

    @property
    def solver(self) -> str:
        return str(self.metrics["config"]["solver"]["name"])

    @property
    def split(self) -> str:
        return self.metrics["config"]["split"]["kind"]


@dataclass(frozen=True)
class Section:
    """``rows[0]`` is the head of the table, whose first ``words`` columns hold words.

    ``marks`` maps (row, column) to "b", bold, or "u", bold and underlined; ``links`` maps it to an
    address below the sweep's folder. ``best`` is the row that is marked, 0 for none. ``name`` is
    that of the figure's file; on a page ``charts`` stand in its place, where there are any.
    """

    title: str
    rows: Sequence[Sequence[str]]
    words: int = 1
    notes: Sequence[str] = ()
    name: str = ""
    figure: Callable[[], Figure | None] | None = None  # drawn for a page
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    links: Mapping[tuple[int, int], str] = field(default_factory=dict)
    best: int = 0
    charts: Sequence[ChartGroup] = ()

    def text(self) -> str:
        """For a terminal, which shows no marks: what is said of them is left out."""
        return "\n\n".join([columns(self.rows), *(note for note in self.notes if note != MARKS)])

    def markdown(self) -> str:
        def cell(i: int, j: int, text: str) -> str:
            bold = {"b": "**{}**", "u": "<u>**{}**</u>"}.get(self.marks.get((i, j), ""), "{}")
            return bold.format(plain_markdown(text))

        lines = [
            "| " + " | ".join(cell(i, j, text) for j, text in enumerate(row)) + " |"
            for i, row in enumerate(self.rows)
        ]
        lines.insert(1, "|" + "---|" * len(self.rows[0]))
        title = [f"## {plain_markdown(self.title)}\n"] if self.title else []
        notes = (f"\n{plain_markdown(note)}" for note in self.notes)
        return "\n".join([*title, *lines, *notes, ""])

    def picture(self, folder: Path) -> bytes | None:
        """The figure, which is also written to ``folder/figures``."""
        drawn = None if self.figure is None else self.figure()
        return None if drawn is None else write_png(folder, self.name, drawn)
