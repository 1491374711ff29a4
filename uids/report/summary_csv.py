"""The lines of a sweep, one a run: the columns of ``summary.csv``."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from uids.models import LOGLOSS
from uids.pipeline.measured import loss_of, measured
from uids.pipeline.metrics import MEASURES, PARTS, FailedRun, Metrics, NoRun, Part
from uids.report.plain import plain_cell
from uids.report.sweep_file import PlannedPoint
from uids.report.table import error_over_repeats
from uids.selection.measures import loss_key

# Keys of a config that change no result, so that no sweep is over them.
IDLE = ("cache", "download", "report")
# The measures beside the model's own loss of which a line also has subset − full, in the test part
# with its standard error, paired over the test rows.
DIFFERENCES = (LOGLOSS, "accuracy")


@dataclass(frozen=True)
class Line:
    """What was run, how it ended, and its numbers, of which there are none unless it ended well."""

    run: str
    status: str  # "ok", "failed", "skipped" or "not run"
    config: Mapping[str, object]  # flat: {"sampler": "sigmoid", "sampler.alpha": 5}
    numbers: Mapping[str, float | None]
    error: str = ""
    loss: str = LOGLOSS  # the name of the model's own

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    def shown(self, key: str) -> str:
        """The value of a key of the config; empty where the run has no such key."""
        return str(self.config.get(key, ""))


def line_of(point: PlannedPoint, metrics: Metrics | FailedRun | NoRun) -> Line:
    run, config = point["run"], point["config"]
    if metrics["status"] == "ok":
        found, loss = numbers(metrics), loss_of(metrics)
        return Line(run, "ok", flat(metrics["config"]), found, point["skipped"], loss)
    status, reason = "skipped" if point["skipped"] else "not run", point["skipped"]
    if metrics["status"] == "failed":
        status, reason, config = "failed", metrics["error"], metrics["config"] or config
    return Line(run, status, flat(config) or typed(point["overrides"]), {}, reason)


def judged_by(lines: Sequence[Line]) -> str:
    """The loss by which all runs are compared: their own where that is the same for all."""
    names = {line.loss for line in lines if line.ok}
    return names.pop() if len(names) == 1 else LOGLOSS


def part_of(lines: Sequence[Line]) -> Part:
    """The rows that judge, the same for every line."""
    column = f"full_test_{loss_key(judged_by(lines))}"
    untested = any(line.ok and line.numbers[column] is None for line in lines)
    return "validation" if untested else "test"


def lines_have(lines: Sequence[Line], column: str) -> bool:
    return any(line.numbers.get(column) is not None for line in lines)


def numbers(metrics: Metrics) -> dict[str, float | None]:
    """The columns behind those of the config."""
    subset, influence = metrics["subset"], metrics["influence"]
    columns: dict[str, float | None] = {
        "rows_train": metrics["dataset"]["rows"]["train"],
        "rows_kept": subset["size"],
    }
    own = loss_key(loss_of(metrics))
    differing = list(dict.fromkeys([own, *DIFFERENCES]))
    for part in PARTS:
        for model, measures in (("full", metrics["full"][part]), ("subset", subset[part])):
            for measure in dict.fromkeys([own, *MEASURES]):
                value = None if measures is None else measured(measures, measure)
                columns[f"{model}_{part}_{measure}"] = value
        for measure in differing:
            full, kept = (columns[f"{model}_{part}_{measure}"] for model in ("full", "subset"))
            difference = None if full is None or kept is None else kept - full
            columns[f"difference_{part}_{measure}"] = difference
    return {
        **columns,
        **{
            f"subset_test_{loss}_se": error_over_repeats(metrics, name=loss)
            for loss in dict.fromkeys([own, LOGLOSS])
        },
        **{
            f"difference_test_{measure}_se": paired_error(metrics, measure) for measure in differing
        },
        "gamma": subset["gamma"],
        "iterations": influence["iterations"],
        "relative_residual": influence["relative_residual"],
        "influence_seconds": metrics["seconds"]["influence"],
        "seconds": metrics["seconds"]["total"],
    }


def paired_error(metrics: Metrics, measure: str) -> float | None:
    """The standard error of subset − full, paired over the test rows; None where not known."""
    baseline = (metrics.get("baselines") or {}).get("subset")
    difference = baseline.get("difference", {}).get(measure) if baseline else None
    return difference["standard_error"] if difference else None


def flat(config: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """{"sampler": {"name": "sigmoid", "alpha": 5}} ↦ {"sampler": "sigmoid", "sampler.alpha": 5}"""
    columns: dict[str, object] = {}
    for key, value in config.items():
        name = prefix.removesuffix(".") if key == "name" and prefix else prefix + key
        if isinstance(value, dict):
            columns |= flat(value, f"{name}.")
        else:
            columns[name] = "" if value is None else value
    return columns


def typed(overrides: Sequence[str]) -> dict[str, object]:
    """In place of a config that could not be composed: what was typed."""
    pairs = (word.partition("=") for word in overrides)
    return {key: value for key, equals, value in pairs if equals}


def csv_text(lines: Sequence[Line]) -> str:
    rows = [
        {"run": line.run, "status": line.status, **line.config, **line.numbers} for line in lines
    ]
    names = [*dict.fromkeys(name for row in rows for name in row), "error"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([plain_cell(name) for name in names])
    for line, row in zip(lines, rows, strict=True):
        cells = {**row, "error": line.error}
        writer.writerow([plain_cell(cells.get(name, "")) for name in names])
    return text.getvalue()


def varying(lines: Sequence[Line]) -> list[str]:
    """The config keys that are not the same in every run: what the sweep was over."""
    names = dict.fromkeys(name for line in lines for name in line.config)

    def differs(name: str) -> bool:
        # A config that could not be composed has no seed, and knows its overrides alone.
        having = [line for line in lines if "seed" in line.config or name in line.config]
        # What a run that did not end has left open may have become the same as that of the others.
        return len({line.shown(name) for line in having if line.ok or line.shown(name)}) > 1

    swept = [name for name in names if name not in IDLE and not name.startswith("sweep.")]
    return [name for name in swept if differs(name)] or ["sampler"]
