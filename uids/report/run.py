"""The files of one run. ``metrics.json`` comes last: where it is, the others are.

| file                | what                                                              |
|---------------------|-------------------------------------------------------------------|
| influence.parquet   | one line a training row: row, label, influence, probability, kept, |
|                     | change, label_error, suggested_label, and the person's ids        |
| dropped.csv         | the dropped rows with their ids, most harmful first               |
| model.npz           | the model to use and its encoder, see uids/pipeline/model_file.py |
| subset.csv          | the kept row numbers, one a line                                  |
| validation.csv      | those of the validation rows, if split off the training file      |
| reasons.json        | why the twenty most harmful rows harm; not of a sweep's points    |
| figures/*.png       | the report's figures                                              |
| report.html         | the report, one self-contained file                               |
| metrics.json        | every number                                                      |
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from uids.errors import UidsError, one_line
from uids.pipeline.model_file import write_model
from uids.pipeline.result import Result
from uids.pipeline.row_table import dropped_table, id_columns, row_table, values
from uids.report.arrow_csv import write_csv
from uids.report.metrics_file import (
    METRICS,
    REASON,
    read_metrics,
    whole_or_damaged,
    write_failure,
)
from uids.report.run_page import write_brief_page, write_page
from uids.report.table import run_table
from uids.system.files import replacing, write_json

__all__ = ["read_metrics", "rebuild_run", "write_failure", "write_run"]

MODEL = "model.npz"
REASONS = "reasons.json"


def write_run(
    folder: Path, result: Result, command: str, reasons: bool = True, page: bool = True
) -> None:
    """``page``: with charts and figures, which take longer than all the rest of a small run."""
    metrics = result.metrics.copy()
    metrics["command"] = command
    table = row_table(result)
    with replacing(folder / "influence.parquet") as temporary:
        pq.write_table(table, temporary)
    listed = {"subset": result.row[result.kept], "validation": result.validation_row}
    for name, rows in listed.items():
        if len(rows):
            with replacing(folder / f"{name}.csv") as temporary:
                np.savetxt(temporary, rows, fmt="%d")
    write_csv(folder / "dropped.csv", dropped_table(table, list(id_columns(result))))
    write_model(folder / MODEL, result.predictor)
    if reasons:
        write_reasons(folder / REASONS, result)
    else:  # those of an earlier run would be taken for its own
        (folder / REASONS).unlink(missing_ok=True)
    if page:
        write_page(folder, metrics, table)
    else:
        write_brief_page(folder, metrics)
    write_json(folder / METRICS, metrics)


def write_reasons(path: Path, result: Result) -> None:
    began = time.perf_counter()
    reasons = result.reasons
    seconds = time.perf_counter() - began
    content = {
        "validation_rows": result.why.validation_rows,
        "note": result.why.note(reasons),
        "seconds": seconds,
        "rows": [reason.as_dict() for reason in reasons],
    }
    write_json(path, content)


def rebuild_run(folder: Path) -> str:
    """The report of one run again, from its files. Returns the table for the terminal."""
    metrics = read_metrics(folder)
    if metrics["status"] == "failed":
        raise UidsError(f"the run in {folder} failed: {metrics['error']}")
    if metrics["status"] == "missing":
        raise UidsError(f"{folder / METRICS} is missing or damaged: start the run again")
    rows = read_influence(folder / "influence.parquet")
    with whole_or_damaged(folder / METRICS):
        write_page(folder, metrics, rows)
        return run_table(metrics, folder)


def read_influence(path: Path) -> pa.Table:
    """One line for each training row, its numbers looked at."""
    try:
        table = pq.read_table(path)
        phi, pi, flags = (values(table[name]) for name in ("influence", "probability", "kept"))
        numbers = len(phi) and phi.dtype.kind == pi.dtype.kind == "f" and flags.dtype == bool
        if not (numbers and np.isfinite(phi).all() and np.isfinite(pi).all()):
            raise ValueError("its columns do not hold finite numbers and true or false")
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
        reason = one_line(error)[:REASON]
        raise UidsError(f"{path} is missing or damaged ({reason}): start the run again") from error
    return table
