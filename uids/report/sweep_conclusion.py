"""What a sweep has come to: title, best point, what its points share, how to run it again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import product

from uids.report.seeds import SEEDS, MeanLine, averaged
from uids.report.summary_csv import IDLE, Line, judged_by, part_of, varying
from uids.report.sweep_charts import best_line
from uids.report.sweep_figure import curve_label
from uids.report.table import change, number
from uids.selection.measures import loss_key

# Losses of points that differ in one of these are of different problems: neither is the better.
PROBLEM = ("dataset", "split", "noise", "noise_kind")
# The shared settings that are named first; those of the table of all of them come behind.
FIRST = (
    *("noise", "noise_kind", "model", "model.C", "solver", "sampler", "ratio", "draw"),
    *("repeats", "split.kind", "seed"),
)
MOST_KEYS = 4  # in a title
MOST_PROBLEMS = 12  # for which the best point is told
MOST_COMMANDS = 200
PLAIN = re.compile(r"[\w.+-]+")  # values that a list between commas may hold


def title(lines: Sequence[Line]) -> str:
    """Sweep over sampler and ratio on breast_cancer"""
    sets = list(dict.fromkeys(line.shown("dataset") for line in lines if line.shown("dataset")))
    over = [key for key in varying(lines) if changed(lines, key)] or ["sampler"]
    over = [key for key in over if not is_of(key, "dataset")] or over
    more = len(over) - MOST_KEYS
    named = [*over[:MOST_KEYS], f"{more} more"] if more > 1 else over
    listed = " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))
    where = "" if not sets else sets[0] if len(sets) == 1 else f"{len(sets)} data sets"
    return f"Sweep over {listed}" + (f" on {where}" if where else "")


def changed(lines: Sequence[Line], key: str) -> bool:
    """Not a key that some points lack and the others have alike: sampler.alpha of one sampler."""
    return len({line.shown(key) for line in lines if key in line.config}) > 1


def is_of(key: str, group: str) -> bool:
    return key == group or key.startswith(f"{group}.")


def best_points(lines: Sequence[Line]) -> list[str]:
    """A sentence on the best point of each problem; none where there is nothing to choose from."""
    keys, done = varying(lines), [line for line in lines if line.ok]
    others = [key for key in keys if key not in SEEDS]
    judged: Sequence[Line] = averaged(done, others) if others and others != keys else done
    apart = [key for key in others if any(is_of(key, each) for each in PROBLEM)]
    problems: dict[str, list[Line]] = {}
    for line in judged:
        problems.setdefault(curve_label(line, apart), []).append(line)
    chosen = [key for key in others if key not in apart] or keys
    told = [best_point(name, group, chosen) for name, group in problems.items()]
    return [sentence for sentence in told if sentence] if len(told) <= MOST_PROBLEMS else []


def best_point(problem: str, lines: Sequence[Line], keys: Sequence[str]) -> str:
    best, part = best_line(lines), part_of(lines)
    if best is None:
        return ""
    loss = judged_by(lines)
    key = loss_key(loss)
    full, subset = (best.numbers.get(f"{model}_{part}_{key}") for model in ("full", "subset"))
    error = error_of_difference(best, part, key)
    within = f" ± {number(error, loss)}" if error is not None else ""
    difference = change(full, subset, loss) + within
    worse = full is not None and subset is not None and subset >= full
    begin = f"No point is better than the full set by {part} {loss}; the best is" if worse else ""
    begin = begin or f"The best point by {part} {loss} is"
    sentence = (
        f"{begin} {curve_label(best, keys) or best.run}: {number(subset, loss)}, {difference} to "
        f"the full set's {number(full, loss)}."
    )
    return f"{problem}: {sentence[0].lower()}{sentence[1:]}" if problem else sentence


def error_of_difference(line: Line, part: str, key: str) -> float | None:
    """Over seeds where there are several, else paired over the test rows."""
    if isinstance(line, MeanLine):
        return line.errors.get(f"difference_{part}_{key}")
    return line.numbers.get(f"difference_{part}_{key}_se")


def who_chose(lines: Sequence[Line]) -> str:
    part = part_of(lines)
    if part == "validation":
        return (
            "There are no test rows: the validation rows chose the point, and the subsets too, so "
            "that both figures are optimistic."
        )
    over = "over seeds" if any(key in SEEDS for key in varying(lines)) else "paired over the rows"
    return (
        f"The test rows chose the point, which looks better on them than it is. ± is the standard "
        f"error of the difference, {over}."
    )


def shared(lines: Sequence[Line]) -> list[list[str]]:
    """Settings that all points that were run have alike: key and value, the most telling first."""
    lines = [line for line in lines if line.ok]
    keys = (
        [key for key in lines[0].config if all(key in line.config for line in lines)]
        if lines
        else []
    )
    alike = [key for key in keys if len({line.shown(key) for line in lines}) == 1]
    alike = [key for key in alike if key not in IDLE and not is_of(key, "sweep")]
    first = [key for key in FIRST if key in alike]
    rest = [key for key in alike if key not in first]
    return [[key, lines[0].shown(key)] for key in (*first, *rest)]


def commands(typed: Sequence[str]) -> list[str]:
    """What to type to run all points again: one line where they are a grid, else one for each."""
    known = [command for command in typed if command]
    together = as_grid(known) if len(known) > 1 else ""
    return [together] if together else known[:MOST_COMMANDS]


def as_grid(typed: Sequence[str]) -> str:
    """uids a=1 b=2 and uids a=3 b=2 ↦ uids -m a=1,3 b=2; empty where the points are no grid of
    plain values."""
    try:
        points = [tuple(shlex.split(command)) for command in typed]
    except ValueError:
        return ""
    if len({tuple(word.partition("=")[0] for word in point) for point in points}) != 1:
        return ""
    columns = [list(dict.fromkeys(column)) for column in zip(*points, strict=True)]
    swept = [word.partition("=")[2] for column in columns if len(column) > 1 for word in column]
    if set(product(*columns)) != set(points) or not all(map(PLAIN.fullmatch, swept)):
        return ""
    words = [
        f"{column[0].partition('=')[0]}={','.join(word.partition('=')[2] for word in column)}"
        if len(column) > 1
        else column[0]
        for column in columns
    ]
    return shlex.join([words[0], "-m", *words[1:]])
