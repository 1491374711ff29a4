"""The tables that every sweep has: all of its runs, and where seeds were swept, means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from uids.pipeline.metrics import Part
from uids.report.section import Section
from uids.report.seeds import SEEDS, averaged, seeds_section
from uids.report.summary_csv import Line, judged_by, part_of, varying
from uids.report.sweep_charts import best_line, sweep_charts
from uids.report.sweep_figure import curve_label, sweep_figure
from uids.report.table import change, number
from uids.selection.measures import loss_key

ERRORS = (
    "± draws: the standard error of the subset's mean over its draws. ± rows: that of the "
    "difference, paired over the test rows."
)
PICKED = "A point that these rows have picked looks better on them than it is."
OF_SEEDS = "± are standard errors over seeds; that of a difference is paired over them."


def points_sections(lines: Sequence[Line], pages: Mapping[str, str]) -> list[Section]:
    """Every run, below the means over seeds where seeds were swept along with other keys. The
    charts are of the means then. ``pages`` are the links to the runs' own pages."""
    keys = varying(lines)
    done = [line for line in lines if line.ok]
    others = [key for key in keys if key not in SEEDS]
    runs = runs_section(lines, keys, pages)
    if not done or not others or others == keys:
        figure, charts = partial(sweep_figure, done, keys), sweep_charts(done, keys)
        return [replace(runs, name="sweep", figure=figure, charts=charts)]
    means = averaged(done, others)
    figure, charts = partial(sweep_figure, means, others), sweep_charts(means, others)
    section = seeds_section(means, others)
    notes, best = with_best(OF_SEEDS, means, others), place_of_best(means)
    return [
        replace(section, name="sweep", figure=figure, charts=charts, notes=notes, best=best),
        runs,
    ]


def runs_section(lines: Sequence[Line], keys: Sequence[str], pages: Mapping[str, str]) -> Section:
    rows = all_runs(lines, keys)
    column = rows[0].index("run", len(keys))  # behind the keys, one of which may have that name
    links = {(i, column): pages[line.run] for i, line in enumerate(lines, 1) if line.run in pages}
    notes, best = with_best(ERRORS, lines, keys), place_of_best(lines)
    return Section("All runs", rows, len(keys), notes, links=links, best=best)


def place_of_best(lines: Sequence[Line]) -> int:
    """The row of a table in which the best of several stands; 0 where none does."""
    best = best_line(lines)
    return 0 if best is None else 1 + next(i for i, line in enumerate(lines) if line is best)


def with_best(notes: str, lines: Sequence[Line], keys: Sequence[str]) -> list[str]:
    """The notes of a table, and what its best line is."""
    best, part = best_line(lines), part_of(lines)
    if best is None:
        return [notes] if any(line.ok for line in lines) else []
    name = judged_by(lines)
    loss = number(best.numbers[f"subset_{part}_{loss_key(name)}"], name)
    return [notes, f"Lowest {part} {name}: {loss}, with {curve_label(best, keys)}. {PICKED}"]


def all_runs(lines: Sequence[Line], keys: Sequence[str]) -> list[list[str]]:
    """The table that people read: what varies, rows kept, loss and accuracy, status."""
    part, loss = part_of(lines), judged_by(lines)
    head = [*keys, "kept", f"{part} {loss}: full", "subset", "± draws", "difference", "± rows"]
    head += ["accuracy: full", "subset", "seconds", "run", "status"]
    rows = [head]
    for line in lines:
        cells = measured(line, part, loss) if line.ok else [""] * 9
        status = ": ".join(filter(None, [line.status, "" if line.ok else line.error]))
        rows.append([*(line.shown(key) for key in keys), *cells, line.run, status])
    return rows


def measured(line: Line, part: Part, loss: str) -> list[str]:
    numbers, key = line.numbers, loss_key(loss)
    full, subset = numbers[f"full_{part}_{key}"], numbers[f"subset_{part}_{key}"]
    return [
        f"{numbers['rows_kept']:.0f}",
        number(full, loss),
        number(subset, loss),
        number(numbers[f"subset_test_{key}_se"], loss) if part == "test" else "",
        change(full, subset, loss),
        number(numbers[f"difference_test_{key}_se"], loss) if part == "test" else "",
        number(numbers[f"full_{part}_accuracy"]),
        number(numbers[f"subset_{part}_accuracy"]),
        f"{numbers['seconds']:.1f}",
    ]
