"""Runs that differ in their seed alone, taken together: means and standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from uids.report.section import Section
from uids.report.summary_csv import Line, judged_by, lines_have, part_of
from uids.report.table import change, number
from uids.selection.measures import loss_key
from uids.system.statistics import standard_error

# Keys over whose values a mean says more than each of them.
SEEDS = ("seed", "split.seed")


@dataclass(frozen=True)
class MeanLine(Line):
    """``numbers`` are means over ``seeds`` lines, ``errors`` their standard errors."""

    seeds: int = 1
    errors: Mapping[str, float | None] = field(default_factory=dict)


def averaged(lines: Sequence[Line], keys: Sequence[str]) -> list[MeanLine]:
    """One line for each combination of the keys, which are no seeds."""
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        groups.setdefault(tuple(line.shown(key) for key in keys), []).append(line)
    return [mean_line(group) for group in groups.values()]


def mean_line(group: Sequence[Line]) -> MeanLine:
    """Where one of the group lacks a number there is no mean of it."""
    means: dict[str, float | None] = {}
    errors: dict[str, float | None] = {}
    for name in group[0].numbers:
        known = [value for line in group if (value := line.numbers[name]) is not None]
        complete = len(known) == len(group)
        means[name] = float(np.mean(known)) if complete else None
        errors[name] = standard_error(known) if complete else None
    first = group[0]
    about = (first.run, first.status, first.config, means, "", judged_by(group))
    return MeanLine(*about, seeds=len(group), errors=errors)


def seeds_section(lines: Sequence[MeanLine], keys: Sequence[str]) -> Section:
    part, loss = part_of(lines), judged_by(lines)
    accuracy = lines_have(lines, f"full_{part}_accuracy")
    shown = [loss, *(["accuracy"] if accuracy else [])]  # each a group of six columns
    head = [*keys, "seeds"]
    for measure in shown:
        head += [f"{part} {measure}: full", "±", "subset", "±", "difference", "±"]
    rows = [head]
    for line in lines:
        cells = [*(line.shown(key) for key in keys), str(line.seeds)]
        for measure in shown:
            key = loss_key(measure)
            full, subset = (f"{model}_{part}_{key}" for model in ("full", "subset"))
            for name in (full, subset):
                cells += [number(line.numbers[name], measure), number(line.errors[name], measure)]
            cells.append(change(line.numbers[full], line.numbers[subset], measure))
            # Paired over seeds: of the differences, not of the two means.
            cells.append(number(line.errors[f"difference_{part}_{key}"], measure))
        rows.append(cells)
    return Section("Means over seeds", rows, len(keys))
