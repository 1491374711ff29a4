"""``report.html`` of one run."""

from __future__ import annotations

from pathlib import Path

from uids.backends import Array
from uids.pipeline.metrics import Metrics
from uids.report import page
from uids.report.figures import influence_figure, selection_figure, write_png
from uids.report.table import (
    OPTIMISTIC,
    baseline_table,
    comparison,
    doubt,
    final_line,
    kept,
    selection_line,
)
from uids.system.files import write_text


def write_page(folder: Path, metrics: Metrics, phi: Array, pi: Array, flags: Array) -> None:
    """The page and its figures. φ, π and whether it was kept: (n,) each, one a training row."""
    picture = write_png(folder, "influence", influence_figure(phi, pi, flags))
    body = [
        *what_was_run(metrics),
        *full_against_subset(metrics),
        *what_to_train_on(metrics),
        *how_much_to_keep(folder, metrics),
        *influence(metrics, picture),
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


def what_was_run(metrics: Metrics) -> list[str]:
    data, noise = metrics["dataset"], metrics.get("noise")
    rows = data["rows"]
    sentences = [
        f"{data['name']}: {rows['train']:,} training, {rows['validation']:,} validation and "
        f"{rows['test']:,} test rows, {data['features']:,} features, {data['classes']} classes."
    ]
    if noise:
        sentences.append(
            f"{noise['flipped']:,} training labels were flipped "
            f"(noise={metrics['config']['noise']}). Among the {noise['flipped']:,} rows with the "
            f"largest φ, {noise['precision']:.1%} have a flipped label; the AUC of φ for finding "
            f"them is {noise['auc']:.3f}."
        )
    return [page.paragraph(sentence) for sentence in sentences]


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
            page.paragraph(metrics["verdict"]["sentence"]),
        ]
    if final_line(metrics):
        body.append(page.paragraph(final_line(metrics)))
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
