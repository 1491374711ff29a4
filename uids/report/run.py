"""The files of one run. ``metrics.json`` comes last: where it is, the others are.

| file                | what                                                              |
|---------------------|-------------------------------------------------------------------|
| influence.parquet   | row, label, influence, probability, kept: one line a training row |
| subset.csv          | the kept row numbers, one a line                                  |
| validation.csv      | those of the validation rows, if split off the training file      |
| figures/*.png       | the report's figures                                              |
| report.html         | the report, one self-contained file                               |
| metrics.json        | every number                                                      |
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from uids.errors import UidsError
from uids.pipeline.metrics import FailedRun, Metrics, NoRun
from uids.pipeline.run import Result
from uids.report.run_page import write_page
from uids.report.table import run_table
from uids.system.files import replacing, write_json

METRICS = "metrics.json"


def write_run(folder: Path, result: Result, command: str) -> None:
    metrics = result.metrics.copy()
    metrics["command"] = command
    label = result.label.astype(str) if result.label.dtype == object else result.label
    table = pa.table(
        {
            "row": result.row,
            "label": label,
            "influence": result.influence,
            "probability": result.probability,
            "kept": result.kept,
            **({"flipped": result.flipped} if result.flipped.any() else {}),
        }
    )
    with replacing(folder / "influence.parquet") as temporary:
        pq.write_table(table, temporary)
    listed = {"subset": result.row[result.kept], "validation": result.validation_row}
    for name, rows in listed.items():
        if len(rows):
            with replacing(folder / f"{name}.csv") as temporary:
                np.savetxt(temporary, rows, fmt="%d")
    write_page(folder, metrics, result.influence, result.probability, result.kept)
    write_json(folder / METRICS, metrics)


def write_failure(folder: Path, config: object, reason: str) -> None:
    """A failed run is on record too. ``config`` is what was composed of it, if anything was."""
    failed = FailedRun(
        schema=1,
        status="failed",
        error=reason,
        config=config if isinstance(config, dict) else {},
    )
    write_json(folder / METRICS, failed)


def read_metrics(folder: Path) -> Metrics | FailedRun | NoRun:
    """The metrics of a run, told apart by their ``status``. What cannot be read, or lacks a key
    that every run has, is as good as missing: a file may come from anywhere, and behind this door
    it is taken for what its type says."""
    try:
        content = json.loads((folder / METRICS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict):
        return NoRun(status="missing")
    if content.get("status") == "ok" and Metrics.__required_keys__ <= content.keys():
        return cast(Metrics, content)
    if content.get("status") == "failed":
        reason, config = content.get("error", "no reason given"), content.get("config")
        return FailedRun(schema=1, status="failed", error=str(reason), config=config or {})
    return NoRun(status="missing")


def rebuild_run(folder: Path) -> str:
    """The report of one run again, from its files. Returns the table for the terminal."""
    metrics = read_metrics(folder)
    if metrics["status"] == "failed":
        raise UidsError(f"the run in {folder} failed: {metrics['error']}")
    if metrics["status"] == "missing":
        raise UidsError(f"{folder / METRICS} is missing or damaged: start the run again")
    table = pq.read_table(folder / "influence.parquet")
    phi, pi, flags = (table[name].to_numpy() for name in ("influence", "probability", "kept"))
    write_page(folder, metrics, phi, pi, flags)
    return run_table(metrics, folder)
