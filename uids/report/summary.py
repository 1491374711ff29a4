"""The table and the page of a sweep, built from the files of its runs and nothing else."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from uids.errors import UidsError
from uids.report import page
from uids.report.figures import sweep_figure
from uids.report.run import read_metrics
from uids.report.section import Run, Section
from uids.report.seeds import SEEDS, averaged, seeds_section
from uids.report.table import change, number, standard_error
from uids.system.files import write_json, write_text

PLAN = "sweep.json"
MEASURES = ("logloss", "accuracy", "auc")
MEASURED = {
    *("run", "status", "rows_train", "rows_kept", "gamma", "seconds", "error", "cache"),
    *("subset_test_logloss_se", "influence_seconds", "iterations", "relative_residual"),
    *("download", "sweep.report"),
    *(f"{m}_{p}_{x}" for m in ("full", "subset") for p in ("validation", "test") for x in MEASURES),
}


def write_plan(folder: Path, points: Sequence[dict[str, Any]], report: str = "points") -> None:
    """Which runs belong to the sweep, before the first of them starts, and how it is told."""
    keys = ("run", "overrides", "config", "skipped")
    listed = [{key: point[key] for key in keys} for point in points]
    write_json(folder / PLAN, {"report": report, "points": listed})


def read_plan(folder: Path) -> tuple[str, list[dict[str, Any]]]:
    """The report and the points of the last sweep into this folder; without a plan, every run that
    is in it."""
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        return str(plan.get("report", "points")), [
            {
                "run": str(p["run"]),
                "overrides": list(p["overrides"]),
                "config": p["config"] or {},
                "skipped": str(p.get("skipped", "")),
            }
            for p in plan["points"]
        ]
    except FileNotFoundError:
        runs = sorted(path.parent.name for path in folder.glob("*/metrics.json"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UidsError(f"{folder / PLAN} is damaged: remove it and try again") from error
    if not runs:
        raise UidsError(f"{str(folder)!r} holds neither a run nor a sweep")
    return "points", [{"run": run, "overrides": [], "config": {}, "skipped": ""} for run in runs]


def write_summary(folder: Path) -> str:
    """summary.csv, summary.md, report.html and its figures. Returns the table for the terminal."""
    report, points = read_plan(folder)
    lines = [line(folder, point) for point in points]
    names = list(dict.fromkeys(name for each in lines for name in each))
    names = [name for name in names if name != "error"] + ["error"]
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    write_text(folder / "summary.csv", text.getvalue())
    done = [each["run"] for each in lines if each["status"] == "ok"]
    told = f"{len(done)} of {len(lines)} runs done"
    runs = [Run(folder / run, read_metrics(folder / run)) for run in done]
    sections = [*experiment(report, runs), *points_sections(lines)]
    body = [part for section in sections for part in section.html(folder)]
    page_text = page.page(f"uids: sweep in {folder.name}", [*body, page.paragraph(told)])
    write_text(folder / "report.html", page_text)
    written = "\n".join(section.markdown() for section in sections)
    write_text(folder / "summary.md", f"{written}\n{told}\n")
    return f"\n{sections[0].text()}\n\n{told}; table: {folder / 'summary.md'}"


def experiment(report: str, runs: list[Run]) -> list[Section]:
    """The sections of ``sweep.report``; none where there is nothing to tell yet."""
    if report == "points" or not runs:
        return []
    from uids.report.experiments import auto, paper, solvers, timing

    modules = {"auto": auto, "paper": paper, "solvers": solvers, "timing": timing}
    known = {name: module.sections for name, module in modules.items()}
    if report not in known:
        raise UidsError(f"there is no report {report!r}: remove {PLAN} and try again")
    return known[report](runs)


def points_sections(lines: list[dict[str, Any]]) -> list[Section]:
    """Every run, below the means over seeds where seeds were swept along with other keys. The
    figure is of the means then."""
    keys = varying(lines)
    done = [each for each in lines if each["status"] == "ok"]
    others = [key for key in keys if key not in SEEDS]
    if not done or not others or others == keys:
        figure = sweep_figure(done, keys)
        return [Section("All runs", short(lines), len(keys), name="sweep", figure=figure)]
    means = averaged(done, others)
    section = replace(
        seeds_section(means, others), name="sweep", figure=sweep_figure(means, others)
    )
    return [section, Section("All runs", short(lines), len(keys))]


def line(folder: Path, point: dict[str, Any]) -> dict[str, Any]:
    """One line of summary.csv: what was run, how it ended, and the numbers."""
    metrics = read_metrics(folder / point["run"])
    idle = "skipped" if point["skipped"] else "not run"
    found = {"run": point["run"], "status": metrics.get("status", idle)}
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
        found["subset_test_logloss_se"] = standard_error(metrics)
        found["gamma"] = metrics["subset"]["gamma"]
        found["iterations"] = metrics["influence"]["iterations"]
        found["relative_residual"] = metrics["influence"]["relative_residual"]
        found["influence_seconds"] = metrics["seconds"]["influence"]
        found["seconds"] = metrics["seconds"]["total"]
    found["error"] = metrics.get("error", point["skipped"])
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
    head = [*keys, "kept", f"{part} logloss: full", "subset", "±", "difference"]
    rows = [[*head, "accuracy: full", "subset", "seconds", "run", "status"]]
    for each in lines:
        cells = [str(each.get(key, "")) for key in keys]
        if each["status"] == "ok":
            full, subset = each[f"full_{part}_logloss"], each[f"subset_{part}_logloss"]
            cells += [
                f"{each['rows_kept']:.0f}",
                number(full),
                number(subset),
                number(each["subset_test_logloss_se"]) if part == "test" else "",
                change(full, subset),
                number(each[f"full_{part}_accuracy"]),
                number(each[f"subset_{part}_accuracy"]),
                f"{each['seconds']:.1f}",
                each["run"],
                "ok",
            ]
        else:
            reason = ": ".join(filter(None, [each["status"], each["error"]]))
            cells += [""] * 8 + [each["run"], reason]
        rows.append(cells)
    return rows
