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
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from uids.backends import Array
from uids.errors import UidsError
from uids.pipeline.run import Result
from uids.report import page
from uids.report.choice import selection_figure
from uids.report.figures import influence_figure, png
from uids.report.table import (
    OPTIMISTIC,
    comparison,
    doubt,
    final_line,
    four_models,
    kept,
    run_table,
    selection_line,
)
from uids.system.files import replacing, write_json, write_text


def write_run(folder: Path, result: Result, command: str) -> None:
    metrics = {**result.metrics, "command": command}
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
    write_report(folder, metrics, result.influence, result.probability, result.kept)
    write_json(folder / "metrics.json", metrics)


def write_failure(folder: Path, config: Any, reason: str) -> None:
    """A failed run is on record too."""
    failed = {"schema": 1, "status": "failed", "error": reason, "config": config or {}}
    write_json(folder / "metrics.json", failed)


def read_metrics(folder: Path) -> dict[str, Any]:
    """The metrics of a run; empty when there are none, or none that can be read."""
    try:
        found = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def rebuild_run(folder: Path) -> str:
    """The report of one run again, from its files. Returns the table for the terminal."""
    metrics = read_metrics(folder)
    if metrics.get("status") != "ok":
        raise UidsError(f"the run in {folder} failed: {metrics.get('error', 'no reason given')}")
    table = pq.read_table(folder / "influence.parquet")
    phi, pi, flags = (table[name].to_numpy() for name in ("influence", "probability", "kept"))
    write_report(folder, metrics, phi, pi, flags)
    return run_table(metrics, folder)


def which_rows(folder: Path, metrics: dict[str, Any]) -> list[str]:
    """The sections on what to train on: the four models, and how the ratio was chosen."""
    body = []
    if metrics.get("baselines"):
        body += [
            "<h2>What to train on</h2>",
            page.table(four_models(metrics), words=1),
            page.paragraph(metrics["verdict"]["sentence"]),
        ]
    if final_line(metrics):
        body.append(page.paragraph(final_line(metrics)))
    if metrics.get("selection"):
        picture = png(selection_figure(metrics["selection"]))
        with replacing(folder / "figures" / "selection.png") as temporary:
            temporary.write_bytes(picture)
        body += [
            "<h2>How much to keep</h2>",
            page.image(picture, "held-out loss against the ratio, with the chosen point"),
            page.paragraph(selection_line(metrics)),
        ]
    return body


def write_report(
    folder: Path, metrics: dict[str, Any], phi: Array, pi: Array, flags: Array
) -> None:
    picture = png(influence_figure(phi, pi, flags))
    with replacing(folder / "figures" / "influence.png") as temporary:
        temporary.write_bytes(picture)
    data, influence, config = metrics["dataset"], metrics["influence"], metrics["config"]
    rows = data["rows"]
    body = [
        page.paragraph(
            f"{data['name']}: {rows['train']:,} training, {rows['validation']:,} validation and "
            f"{rows['test']:,} test rows, {data['features']:,} features, {data['classes']} classes."
        ),
    ]
    noise = metrics["noise"]
    if noise:
        body.append(
            page.paragraph(
                f"{noise['flipped']:,} training labels were flipped (noise={config['noise']}). Of "
                f"as many rows with the largest φ, {noise['precision']:.1%} are flipped ones; the "
                f"AUC of φ for finding them is {noise['auc']:.3f}."
            )
        )
    body += [
        "<h2>Full training set against subset</h2>",
        page.table(comparison(metrics), words=2),
        page.paragraph(kept(metrics) + ". Lower logloss is better."),
    ]
    if metrics["full"]["test"] is None:
        body.append(page.paragraph(OPTIMISTIC, note=True))
    body += which_rows(folder, metrics)
    body += [
        "<h2>Influence</h2>",
        page.image(picture, "distribution of the influence, with the probability over it"),
        page.paragraph(
            f"{influence['harmful_fraction']:.1%} of the training rows harm (φ > 0). Solve: "
            f"{influence['status']}, relative residual "
            f"{influence['relative_residual']:.1e}; the identity Σφ = θ̂ᵀs/C holds to "
            f"{influence['identity_error']:.1e} of Σ|φ|. The first tests the solve, the second the "
            "fit: both small means that φ can be trusted."
        ),
        *([page.paragraph(doubt(metrics), note=True)] if doubt(metrics) else []),
        "<h2>Do it again</h2>",
        page.code(metrics["command"]),
        "<h2>Time</h2>",
        page.table(
            [
                ["stage", "seconds"],
                *([stage, f"{spent:.3f}"] for stage, spent in metrics["seconds"].items()),
            ],
            words=1,
        ),
    ]
    title = f"uids: {config['sampler']['name']} on {data['name']}"
    write_text(folder / "report.html", page.page(title, body))
