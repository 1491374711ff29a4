"""The table and the page of a sweep, built from the files of its runs and nothing else."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from uids.errors import UidsError
from uids.report import page
from uids.report.figures import png, sweep_figure
from uids.report.files import replacing, write_json, write_text
from uids.report.run import read_metrics
from uids.report.table import change, columns, number

PLAN = "sweep.json"
MEASURES = ("logloss", "accuracy", "auc")
MEASURED = {
    *("run", "status", "rows_train", "rows_kept", "gamma", "seconds", "error", "cache"),
    *(f"{m}_{p}_{x}" for m in ("full", "subset") for p in ("validation", "test") for x in MEASURES),
}


def write_plan(folder: Path, points: Sequence[dict[str, Any]]) -> None:
    """Which runs belong to the sweep (run, overrides, config), before the first of them starts."""
    keys = ("run", "overrides", "config")
    write_json(folder / PLAN, {"points": [{key: point[key] for key in keys} for point in points]})


def read_plan(folder: Path) -> list[dict[str, Any]]:
    """The points of the last sweep into this folder; without a plan, every run that is in it."""
    try:
        points = json.loads((folder / PLAN).read_text(encoding="utf-8"))["points"]
        return [
            {"run": str(p["run"]), "overrides": list(p["overrides"]), "config": p["config"] or {}}
            for p in points
        ]
    except FileNotFoundError:
        runs = sorted(path.parent.name for path in folder.glob("*/metrics.json"))
    except (ValueError, KeyError, TypeError) as error:
        raise UidsError(f"{folder / PLAN} is damaged: remove it and try again") from error
    if not runs:
        raise UidsError(f"{str(folder)!r} holds neither a run nor a sweep")
    return [{"run": run, "overrides": [], "config": {}} for run in runs]


def write_summary(folder: Path) -> str:
    """summary.csv, summary.md, report.html and its figure. Returns the table for the terminal."""
    lines = [line(folder, point) for point in read_plan(folder)]
    names = list(dict.fromkeys(name for each in lines for name in each))
    names = [name for name in names if name != "error"] + ["error"]
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    write_text(folder / "summary.csv", text.getvalue())
    shown = short(lines)
    done = sum(each["status"] == "ok" for each in lines)
    told = f"{done} of {len(lines)} runs done"
    write_text(folder / "summary.md", f"{markdown(shown)}\n{told}\n")
    body = [page.table(shown, words=len(varying(lines))), page.paragraph(told)]
    figure = sweep_figure([each for each in lines if each["status"] == "ok"], varying(lines))
    if figure is not None:
        picture = png(figure)
        with replacing(folder / "figures" / "sweep.png") as temporary:
            temporary.write_bytes(picture)
        body.append(page.image(picture, "logloss and accuracy over the sweep"))
    write_text(folder / "report.html", page.page(f"uids: sweep in {folder.name}", body))
    return f"\n{columns(shown)}\n\n{told}; table: {folder / 'summary.md'}"


def line(folder: Path, point: dict[str, Any]) -> dict[str, Any]:
    """One line of summary.csv: what was run, how it ended, and the numbers."""
    metrics = read_metrics(folder / point["run"])
    found = {"run": point["run"], "status": metrics.get("status", "not run")}
    config = metrics.get("config") or point["config"]
    found |= flat(config)
    if not config:
        found |= dict(word.split("=", 1) for word in point["overrides"] if "=" in word)
    if found["status"] == "ok":
        found["rows_train"] = metrics["dataset"]["rows"]["train"]
        found["rows_kept"] = metrics["subset"]["size"]
        for part in ("validation", "test"):
            for model in ("full", "subset"):
                for measure in MEASURES:
                    value = (metrics[model][part] or {}).get(measure)
                    found[f"{model}_{part}_{measure}"] = value
        found["gamma"] = metrics["subset"]["gamma"]
        found["seconds"] = metrics["seconds"]["total"]
    found["error"] = metrics.get("error", "")
    return found


def flat(config: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """{"sampler": {"name": "sigmoid", "alpha": 5}} ↦ {"sampler": "sigmoid", "sampler.alpha": 5}"""
    found: dict[str, Any] = {}
    for key, value in config.items():
        name = prefix.removesuffix(".") if key == "name" and prefix else prefix + key
        if isinstance(value, dict):
            found |= flat(value, f"{name}.")
        else:
            found[name] = "" if value is None else value
    return found


def varying(lines: list[dict[str, Any]]) -> list[str]:
    """The config keys that are not the same in every run: what the sweep was over."""
    names = dict.fromkeys(name for each in lines for name in each if name not in MEASURED)
    composed = [each for each in lines if "seed" in each]  # the others know only their overrides

    def differs(name: str) -> bool:
        seen = {str(each.get(name, "")) for each in composed}
        return len(seen | {str(each[name]) for each in lines if name in each}) > 1

    return [name for name in names if differs(name)] or ["sampler"]


def short(lines: list[dict[str, Any]]) -> list[list[str]]:
    """The table that people read: what varies, rows kept, logloss and accuracy, status."""
    keys = varying(lines)
    tested = [each.get("full_test_logloss") for each in lines if each["status"] == "ok"]
    part = "validation" if None in tested else "test"  # the same for every line
    head = [*keys, "kept", f"{part} logloss: full", "subset", "difference"]
    rows = [[*head, "accuracy: full", "subset", "seconds", "run", "status"]]
    for each in lines:
        cells = [str(each.get(key, "")) for key in keys]
        if each["status"] == "ok":
            full, subset = each[f"full_{part}_logloss"], each[f"subset_{part}_logloss"]
            cells += [
                f"{each['rows_kept']:.0f}",
                number(full),
                number(subset),
                change(full, subset),
                number(each[f"full_{part}_accuracy"]),
                number(each[f"subset_{part}_accuracy"]),
                f"{each['seconds']:.1f}",
                each["run"],
                "ok",
            ]
        else:
            reason = ": ".join(filter(None, [each["status"], each["error"]]))
            cells += [""] * 7 + [each["run"], reason]
        rows.append(cells)
    return rows


def markdown(rows: Sequence[Sequence[str]]) -> str:
    def bars(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"

    rule = "|" + "---|" * len(rows[0]) + "\n"
    return bars(rows[0]) + rule + "".join(bars(cells) for cells in rows[1:])
