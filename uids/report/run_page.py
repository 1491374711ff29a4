"""``report.html`` of one run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from uids.pipeline.metrics import Metrics
from uids.report import page
from uids.report.figures import influence_figure, selection_figure, write_png
from uids.report.table import (
    OPTIMISTIC,
    baseline_table,
    comparison,
    conclusion_line,
    doubt,
    kept,
    labels_line,
    selection_line,
    what_is_wrong,
)
from uids.system.files import write_text

MOST_LABELS = 20  # of those that look wrong, on the page


def write_page(folder: Path, metrics: Metrics, rows: pa.Table) -> None:
    """The page and its figures. ``rows`` is what influence.parquet holds."""
    phi, pi, flags = (rows[name].to_numpy() for name in ("influence", "probability", "kept"))
    picture = write_png(folder, "influence", influence_figure(phi, pi, flags))
    body = [
        *conclusion(metrics),
        *what_was_run(metrics),
        *full_against_subset(metrics),
        *what_to_train_on(metrics),
        *how_much_to_keep(folder, metrics),
        *influence(metrics, picture),
        *wrong_labels(metrics, rows),
        page.heading("Run it again"),
        page.code(metrics.get("command", "")),
        page.heading("Time"),
        page.table(
            [
                ["stage", "seconds"],
                *([stage, f"{spent:.3f}"] for stage, spent in metrics["seconds"].items()),
            ],
            words=1,
        ),
    ]
    title = f"uids: {metrics['config']['sampler']['name']} on {metrics['dataset']['name']}"
    write_text(folder / "report.html", page.page(title, body))


def conclusion(metrics: Metrics) -> list[str]:
    """First of all, and nothing below says otherwise."""
    return [page.paragraph(line, strong=True) for line in (conclusion_line(metrics),) if line]


def what_was_run(metrics: Metrics) -> list[str]:
    data, noise = metrics["dataset"], metrics.get("noise")
    rows = data["rows"]
    sentences = [
        f"{data['name']}: {rows['train']:,} training, {rows['validation']:,} validation and "
        f"{rows['test']:,} test rows, {data['features']:,} features, {data['classes']} classes."
    ]
    if noise:
        sentences.append(
            f"{what_noise_did(metrics, noise['flipped'])}. Among the {noise['flipped']:,} rows "
            f"with the largest φ, {noise['precision']:.1%} have {what_is_wrong(metrics)}; the AUC "
            f"of φ for finding them is {noise['auc']:.3f}."
        )
    return [page.paragraph(sentence) for sentence in sentences]


def what_noise_did(metrics: Metrics, count: int) -> str:
    """In words by its kind; uniform noise, the default, is not named."""
    share, kind = metrics["config"]["noise"], metrics["config"].get("noise_kind", "uniform")
    did = {
        "class": "training labels of odd classes were changed to the class below",
        "region": "training labels in one region of the features were flipped",
        "features": "training rows had noise added to their features",
        "both": "training labels were flipped, and the same share of the validation labels",
    }.get(kind, "training labels were flipped")
    named = "" if kind == "uniform" else f", noise_kind={kind}"
    return f"{count:,} {did} (noise={share}{named})"


def full_against_subset(metrics: Metrics) -> list[str]:
    body = [
        page.heading("Full training set against subset"),
        page.table(comparison(metrics), words=2),
        page.paragraph(kept(metrics) + ". Lower logloss is better."),
    ]
    if metrics["full"]["test"] is None:
        body.append(page.paragraph(OPTIMISTIC, note=True))
    return body


def what_to_train_on(metrics: Metrics) -> list[str]:
    body = []
    if metrics.get("baselines"):
        body += [
            page.heading("What to train on"),
            page.table(baseline_table(metrics), words=1),
        ]
    return body


def how_much_to_keep(folder: Path, metrics: Metrics) -> list[str]:
    selection = metrics.get("selection")
    if not selection:
        return []
    picture = write_png(folder, "selection", selection_figure(selection))
    return [
        page.heading("How much to keep"),
        page.image(picture, "held-out loss against the ratio, with the chosen point"),
        page.paragraph(selection_line(metrics)),
    ]


def influence(metrics: Metrics, picture: bytes) -> list[str]:
    described = metrics["influence"]
    body = [
        page.heading("Influence"),
        page.image(picture, "distribution of the influence, with the probability over it"),
        page.paragraph(
            f"{described['harmful_fraction']:.1%} of the training rows are harmful (φ > 0). Solve: "
            f"{described['status']}, relative residual {described['relative_residual']:.1e}; the "
            f"identity Σφ = θ̂ᵀs/C holds to {described['identity_error']:.1e} of Σ|φ|. The first "
            "tests the solve, the second the fit: if both are small, φ can be trusted."
        ),
    ]
    check = metrics.get("validation_check")
    if check:
        body.append(page.paragraph(check["sentence"], note=check["cleaner"] is False))
    if doubt(metrics):
        body.append(page.paragraph(doubt(metrics), note=True))
    return body


def wrong_labels(metrics: Metrics, rows: pa.Table) -> list[str]:
    """The rows whose labels look wrong, the most probable first."""
    if not labels_line(metrics) or "label_error" not in rows.column_names:
        return []
    error = rows["label_error"].to_numpy()
    first = [int(i) for i in np.argsort(-error, kind="stable")[:MOST_LABELS] if error[i] > 0.5]
    listed = [
        [
            *(str(rows[name][i].as_py()) for name in ("row", "label", "suggested_label")),
            f"{error[i]:.3f}",
        ]
        for i in first
    ]
    body = [
        page.heading("Labels that look wrong"),
        page.paragraph(
            f"{labels_line(metrics)} φ says what harms, this says what is wrong; it needs no "
            "trusted rows. All rows are in influence.parquet (label_error, suggested_label)."
        ),
    ]
    if listed:
        head = ["row", "label", "suggested label", "probability that it is wrong"]
        body.append(page.table([head, *listed], words=3))
    return body
