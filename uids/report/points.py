"""The tables that every sweep has: all of its runs, and where seeds were swept, means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from uids.pipeline.metrics import Part
from uids.report.section import Section
from uids.report.seeds import SEEDS, averaged, seeds_section
from uids.report.summary_csv import Line, varying
from uids.report.sweep_figure import sweep_figure
from uids.report.table import change, number


def points_sections(lines: Sequence[Line]) -> list[Section]:
    """Every run, below the means over seeds where seeds were swept along with other keys. The
    figure is of the means then."""
    keys = varying(lines)
    done = [line for line in lines if line.ok]
    others = [key for key in keys if key not in SEEDS]
    if not done or not others or others == keys:
        figure = sweep_figure(done, keys)
        return [Section("All runs", all_runs(lines, keys), len(keys), name="sweep", figure=figure)]
    means = averaged(done, others)
    figure = sweep_figure(means, others)
    return [
        replace(seeds_section(means, others), name="sweep", figure=figure),
        Section("All runs", all_runs(lines, keys), len(keys)),
    ]


def all_runs(lines: Sequence[Line], keys: Sequence[str]) -> list[list[str]]:
    """The table that people read: what varies, rows kept, logloss and accuracy, status."""
    untested = any(line.ok and line.numbers["full_test_logloss"] is None for line in lines)
    part: Part = "validation" if untested else "test"  # the same for every line
    head = [*keys, "kept", f"{part} logloss: full", "subset", "±", "difference"]
    head += ["accuracy: full", "subset", "seconds", "run", "status"]
    rows = [head]
    for line in lines:
        cells = measured(line, part) if line.ok else [""] * 8
        status = ": ".join(filter(None, [line.status, "" if line.ok else line.error]))
        rows.append([*(line.shown(key) for key in keys), *cells, line.run, status])
    return rows


def measured(line: Line, part: Part) -> list[str]:
    numbers = line.numbers
    full, subset = numbers[f"full_{part}_logloss"], numbers[f"subset_{part}_logloss"]
    return [
        f"{numbers['rows_kept']:.0f}",
        number(full),
        number(subset),
        number(numbers["subset_test_logloss_se"]) if part == "test" else "",
        change(full, subset),
        number(numbers[f"full_{part}_accuracy"]),
        number(numbers[f"subset_{part}_accuracy"]),
        f"{numbers['seconds']:.1f}",
    ]
