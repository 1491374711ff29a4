"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from uids.scoring.influence import TRUSTED

MEASURES = ("logloss", "accuracy", "auc")
OPTIMISTIC = (
    "There are no test rows. The validation figures are optimistic: the validation rows chose "
    "the subset."
)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head. Numbers stand to the right, words to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    numeric = [all(_is_number(row[i]) for row in rows[1:]) for i in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "  ".join("─" * width for width in widths), *lines[1:]])


def _is_number(cell: str) -> bool:
    return not cell or cell.lstrip("+-−").replace(".", "").replace(",", "").rstrip("%").isdigit()


def comparison(metrics: dict[str, Any]) -> list[list[str]]:
    """Full against subset, for each measure and each part: the head and the lines."""
    rows = [["", "", "full", "subset", "difference"]]
    for part in ("validation", "test"):
        full, subset = metrics["full"][part], metrics["subset"][part]
        if full is None:
            continue
        for name in ("logloss", "accuracy", "auc"):
            a, b = full[name], subset[name]
            rows.append([part, name, number(a), number(b), change(a, b)])
        for delta, a in full["worst_case_logloss"].items():
            b = subset["worst_case_logloss"][delta]
            rows.append([part, f"worst case, δ = {delta}", number(a), number(b), change(a, b)])
    return [rows[0], *(_once(rows[1:]))]


def _once(rows: list[list[str]]) -> list[list[str]]:
    """The name of a part on its first line only."""
    seen: set[str] = set()
    for row in rows:
        if row[0] in seen:
            row[0] = ""
        seen.add(row[0])
    return rows


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def change(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return ""
    return f"{round(after - before, 4) + 0.0:+.4f}"  # + 0.0, since −0.0000 is nothing


def standard_error(metrics: dict[str, Any], part: str = "test", name: str = "logloss") -> Any:
    """Of the mean over the repeats; None where it has no meaning."""
    values: list[Any] = [(each[part] or {}).get(name) for each in metrics["subset"]["repeats"]]
    if len(values) < 2 or None in values:
        return None
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def kept(metrics: dict[str, Any]) -> str:
    n, size = metrics["dataset"]["rows"]["train"], metrics["subset"]["size"]
    draws = len(metrics["subset"]["repeats"])
    means = f"; the subset's figures are means over {draws} draws" if draws > 1 else ""
    follows = ""
    if metrics["config"]["draw"] == "bernoulli":
        follows = " (draw=bernoulli: the size follows π, not the ratio)"
    return f"kept {size:,.0f} of {n:,} training rows ({size / n:.1%}){follows}{means}"


def four_models(metrics: dict[str, Any]) -> list[list[str]]:
    """Test measures of the four models: the head and the lines; empty without test rows."""
    found = metrics.get("baselines")
    if not found:
        return []
    head = ["trained on", "test logloss", "accuracy", "auc"]
    rows = [
        [name.replace("_plus_", " + "), *(number(each["test"][key]) for key in MEASURES)]
        for name, each in found.items()
    ]
    return [head, *rows]


def selection_line(metrics: dict[str, Any]) -> str:
    """What was chosen and why; empty when nothing was left to choose."""
    selection = metrics.get("selection")
    if not selection:
        return ""
    alpha = selection.get("chosen_alpha")
    and_alpha = f", α = {alpha:g}" if alpha is not None else ""
    return f"chosen: ratio = {selection['chosen']:g}{and_alpha}; {selection['reason']}"


def final_line(metrics: dict[str, Any]) -> str:
    if metrics["config"].get("final") != "subset+validation":
        return ""
    return "final=subset+validation: the last model is that of the subset and the validation rows"


def doubt(metrics: dict[str, Any]) -> str:
    """Empty when φ can be trusted; else why not."""
    influence = metrics["influence"]
    found = []
    if not influence["relative_residual"] <= TRUSTED:
        found.append("the solve is rough (relative residual): lower solver.tol or use another")
    if not influence["identity_error"] <= TRUSTED:
        found.append("the fit is not at its optimum (identity error): lower model.tol or model.C")
    return "Do not trust φ: " + "; ".join(found) if found else ""


def run_table(metrics: dict[str, Any], folder: Path) -> str:
    """What a person sees at the end of a run."""
    lines = [columns(comparison(metrics)), ""]
    if metrics.get("baselines"):
        lines += [columns(four_models(metrics)), "", metrics["verdict"]["sentence"]]
    lines += [line for line in (final_line(metrics), selection_line(metrics)) if line]
    lines.append(kept(metrics))
    if metrics["full"]["test"] is None:
        lines.append(OPTIMISTIC)
    influence, seconds = metrics["influence"], metrics["seconds"]
    if metrics["noise"]:
        lines.append(
            f"{metrics['noise']['precision']:.1%} of the {metrics['noise']['flipped']:,} rows with "
            f"the largest φ have a flipped label; AUC {metrics['noise']['auc']:.3f}"
        )
    if doubt(metrics):
        lines.append(doubt(metrics))
    lines += [
        f"{influence['harmful_fraction']:.1%} of the rows harm; solve: {influence['status']}, "
        f"relative residual {influence['relative_residual']:.0e}, "
        f"identity error {influence['identity_error']:.0e}",
        f"{seconds['total']:.2f} s{cached(metrics)}   report: {folder / 'report.html'}",
    ]
    return "\n".join(lines)


def cached(metrics: dict[str, Any]) -> str:
    return " (θ̂ and φ from the cache)" if metrics["cache"] == "hit" else ""


def run_line(metrics: dict[str, Any], overrides: Sequence[str]) -> str:
    """What a person sees at the end of a point of a sweep."""
    part = "validation" if metrics["full"]["test"] is None else "test"
    full, subset = metrics["full"][part]["logloss"], metrics["subset"][part]["logloss"]
    return (
        f"done: {' '.join(overrides) or 'defaults'}: {part} logloss {subset:.4f} "
        f"(full {full:.4f}), {metrics['seconds']['total']:.1f} s{cached(metrics)}"
    )
