"""Runs that differ in their seed alone, told as one: means and standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uids.report.section import Section
from uids.report.table import change, number

SEEDS = ("seed", "split.seed")
Line = dict[str, Any]


def averaged(lines: Sequence[Line], keys: Sequence[str]) -> list[Line]:
    """One line for each combination of the keys that are no seeds. A number becomes its mean, and
    gets its standard error beside it as ``<name>_error``; ``seeds`` says how many there were."""
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        groups.setdefault(tuple(str(line.get(key, "")) for key in keys), []).append(line)
    return [one(group, keys) for group in groups.values()]


def one(group: list[Line], keys: Sequence[str]) -> Line:
    found = {**group[0], "seeds": len(group)}
    for name in group[0]:
        values = [line.get(name) for line in group]
        numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        if numeric and name not in keys and len(group) > 1:
            found[name] = float(np.mean(values))  # type: ignore[arg-type]
            spread = np.std(values, ddof=1)  # type: ignore[arg-type]
            found[f"{name}_error"] = float(spread / np.sqrt(len(group)))
    return found


def seeds_section(lines: Sequence[Line], keys: Sequence[str]) -> Section:
    """Of lines that ``averaged`` made."""
    part = "validation" if any(line.get("full_test_logloss") is None for line in lines) else "test"
    head = [*keys, "seeds"]
    for measure in ("logloss", "accuracy"):
        head += [f"{part} {measure}: full", "±", "subset", "±", "difference"]
    rows = [head]
    for line in lines:
        cells = [*(str(line.get(key, "")) for key in keys), str(line["seeds"])]
        for measure in ("logloss", "accuracy"):
            full, subset = (f"{model}_{part}_{measure}" for model in ("full", "subset"))
            for name in (full, subset):
                cells += [number(line[name]), number(line.get(f"{name}_error"))]
            cells.append(change(line[full], line[subset]))
        rows.append(cells)
    return Section("Means over seeds", rows, len(keys))
