"""``report.html`` of one run: what its template is given."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from uids.models import LOGLOSS
from uids.pipeline.conclusion import NO_TEST_LABELS
from uids.pipeline.describe import MOST_COLUMNS
from uids.pipeline.measured import loss_of, measured, shown_measures
from uids.pipeline.metrics import Baseline, Metrics, Part, PlainMeasures
from uids.pipeline.plan import target_words
from uids.pipeline.row_table import values
from uids.report.figures import influence_figure, selection_figure, write_png
from uids.report.harmful_rows import harmful_rows, id_names, label_text, share, text
from uids.report.next_steps import next_steps
from uids.report.page import Link, render
from uids.report.run_charts import influence_chart, models_chart, selection_chart
from uids.report.summary_csv import flat
from uids.report.table import (
    NO_CLASSES,
    OPTIMISTIC,
    class_table,
    column_table,
    comparison,
    conclusion_line,
    doubt,
    kept,
    labels_line,
    number,
    selection_line,
    trained_on,
    what_is_wrong,
)
from uids.scoring.labels import LIKELY
from uids.selection.measures import OF_CLASSES, loss_key, loss_text
from uids.system.files import plain, write_text

ALONE = ("auc", LOGLOSS)  # without a difference, where they are not the loss of the model
MOST_LABELS = 100  # of those that look wrong, on the page
FIRST_LABELS = 20  # the most probable that are listed where their number is not known
# What the files of a run are, in the order in which they are linked.
FILES = {
    "metrics.json": "every number, the config, the versions",
    "influence.parquet": "every training row: φ, π, kept, label audit",
    "dropped.csv": "the rows that were dropped",
    "subset.csv": "the numbers of the rows that were kept",
    "validation.csv": "the numbers of the validation rows",
    "model.npz": "the model of this run (of what final says), with its encoder",
    "reasons.json": "why the most harmful rows harm",
    "uids.log": "the log",
    ".hydra/config.yaml": "the config as composed",
}
LAST = "metrics.json"  # written behind the page, so that it is not looked for
MOST_FILES = 40  # further ones that are linked


class Fact(NamedTuple):
    """A number that a person looks for first."""

    name: str
    value: str
    more: str = ""


def write_page(folder: Path, metrics: Metrics, rows: pa.Table) -> None:
    """The page and its figures. ``rows`` is what influence.parquet holds."""
    phi, pi, flags = (values(rows[name]) for name in ("influence", "probability", "kept"))
    chance = not metrics.get("sampling", {}).get("deterministic", False)
    selection, baselines = metrics.get("selection"), metrics.get("baselines") or {}
    conclusion = metrics.get("conclusion")
    measure = conclusion["measure"] if conclusion else loss_of(metrics)
    picture = write_png(folder, "influence", influence_figure(phi, pi, flags, chance))
    walk = selection and write_png(folder, "selection", selection_figure(selection))
    linked = files(folder)  # the figures among them
    context = {
        "metrics": metrics,
        "title": title(metrics),
        "conclusion": conclusion_line(metrics),
        "sure": bool(conclusion and conclusion["sure"]),
        "notes": notes(metrics),
        "facts": facts(metrics),
        "about": what_was_run(metrics),
        "models": models_chart(baselines, conclusion["use"] if conclusion else "", measure),
        "measure": measure,
        "more_is_better": measure in OF_CLASSES,
        "baselines": baseline_rows(metrics),
        "comparison": comparison(metrics),
        "wrong_test": NO_TEST_LABELS in conclusion_line(metrics),
        "kept": kept(metrics),
        "loss": loss_of(metrics),
        "influence": influence_chart(phi, pi, flags, chance),
        "influence_picture": picture,
        "harmful": harmful_rows(folder, rows),
        "labels": wrong_labels(metrics, rows),
        "labels_line": labels_line(metrics),
        "selection": selection_chart(selection) if selection else None,
        "selection_picture": walk,
        "selection_line": selection_line(metrics),
        "classes": class_table(metrics),
        "columns": column_table(metrics["dataset"], MOST_COLUMNS),
        "files": linked,
        "config": [["key", "value"], *config_rows(metrics)],
        "steps": next_steps(metrics, [file.name for file in linked]),
        "seconds": [["stage", "seconds"], *seconds_rows(metrics)],
    }
    write_text(folder / "report.html", render("run.html", **context))


def write_brief_page(folder: Path, metrics: Metrics) -> None:
    """In the place of the page, at almost no cost: what came of the run, and how to have the page.
    Figures of an earlier run would be taken for its own."""
    for figure in folder.glob("figures/*.png"):
        figure.unlink()
    with suppress(OSError):  # none, or not empty
        (folder / "figures").rmdir()
    context = {
        "title": title(metrics),
        "sentences": [conclusion_line(metrics), *notes(metrics)],
        "files": files(folder),
    }
    write_text(folder / "report.html", render("brief.html", **context))


def title(metrics: Metrics) -> str:
    return f"{sampler_used(metrics)} on {metrics['dataset']['name']}"


def sampler_used(metrics: Metrics) -> str:
    """The one that was chosen, where one was."""
    selection = metrics.get("selection")
    chosen = selection and selection.get("choice", {}).get("sampler")
    return str(chosen or metrics["config"]["sampler"]["name"])


def notes(metrics: Metrics) -> list[str]:
    """What a person has to know before believing the conclusion."""
    check = metrics.get("validation_check")
    found = [
        OPTIMISTIC if metrics["full"]["test"] is None else "",
        doubt(metrics),
        check["sentence"] if check and check["cleaner"] is False else "",
        "" if metrics["dataset"]["classes"] else NO_CLASSES,
    ]
    return [note for note in found if note]


def facts(metrics: Metrics) -> list[Fact]:
    rows, size = metrics["dataset"]["rows"], metrics["subset"]["size"]
    found = [Fact("rows kept", f"{size:,.0f}", f"of {rows['train']:,}, {size / rows['train']:.1%}")]
    found += [*measured_facts(metrics)]
    found.append(Fact("harmful rows", f"{metrics['influence']['harmful_fraction']:.1%}", "φ > 0"))
    labels = metrics.get("labels")
    if labels and (knows_labels(metrics) or labels["wrong"] >= 0.5):
        least = "at least " if labels["sentence"].startswith("At least") else ""
        found.append(
            Fact("labels that look wrong", f"{least}{labels['wrong']:,.0f}", "by the audit")
        )
    return found


def measured_facts(metrics: Metrics) -> list[Fact]:
    """Of the model that the conclusion names, beside the full set."""
    part: Part = "validation" if metrics["full"]["test"] is None else "test"
    conclusion, baselines = metrics.get("conclusion"), metrics.get("baselines") or {}
    full = metrics["full"][part]
    use: PlainMeasures | None = metrics.get("final", metrics["subset"])[part]
    if conclusion and conclusion["use"] in baselines:
        use = baselines[conclusion["use"]]["test"]
    if full is None or use is None:
        return []
    loss = loss_of(metrics)
    here, there = (number(measured(each, loss_key(loss)), loss) for each in (use, full))
    found = [Fact(f"{part} {loss}", here, f"full set {there}")]
    if use["accuracy"] is not None and full["accuracy"] is not None:
        right, before = f"{use['accuracy']:.1%}", f"full set {full['accuracy']:.1%}"
        found.append(Fact(f"{part} accuracy", right, before))
    by_auc = conclusion and conclusion["measure"] == "auc"
    if by_auc and use["auc"] is not None and full["auc"] is not None:
        found.append(Fact(f"{part} AUC", f"{use['auc']:.4f}", f"full set {full['auc']:.4f}"))
    return found


def what_was_run(metrics: Metrics) -> list[str]:
    data, noise = metrics["dataset"], metrics.get("noise")
    rows = data["rows"]
    sentences = [
        f"{data['name']}: {rows['train']:,} training, {rows['validation']:,} validation and "
        f"{rows['test']:,} test rows, {data['features']:,} features, {target_words(data)}."
    ]
    if noise:
        sentences.append(
            f"{what_noise_did(metrics, noise['flipped'])}. Among the {noise['flipped']:,} rows "
            f"with the largest φ, {noise['precision']:.1%} have {what_is_wrong(metrics)}; the AUC "
            f"of φ for finding them is {noise['auc']:.3f}."
        )
    return sentences


def what_noise_did(metrics: Metrics, count: int) -> str:
    """In words by its kind; uniform noise, the default, is not named."""
    classes = metrics["dataset"]["classes"]
    what, done = ("labels", "flipped") if classes else ("numbers", "exchanged")
    share, kind = metrics["config"]["noise"], metrics["config"].get("noise_kind", "uniform")
    did = {
        "class": "training labels of odd classes were changed to the class below",
        "region": f"training {what} in one region of the features were {done}",
        "features": "training rows had noise added to their features",
        "both": f"training {what} were {done}, and the same share of the validation {what}",
    }.get(kind, f"training {what} were {done}")
    named = "" if kind == "uniform" else f", noise_kind={kind}"
    return f"{count:,} {did} (noise={share}{named})"


def baseline_rows(metrics: Metrics) -> list[list[str]]:
    """The models with their differences to the full set, ± 95 %: the head and the lines."""
    baselines = metrics.get("baselines")
    if not baselines:
        return []
    loss, *others = shown_measures(metrics)
    head = ["trained on", f"test {loss}", "difference", "± 95 %"]
    for name in others:
        head += [name] if name in ALONE else [name, "difference", "± 95 %"]
    rows = [head]
    for name, baseline in baselines.items():
        cells = [trained_on(name)]
        for measure in (loss, *others):
            cells.append(number(measured(baseline["test"], loss_key(measure)), measure))
            if measure not in ALONE or measure == loss:
                cells += difference_cells(baseline, measure)
        rows.append(cells)
    return rows


def difference_cells(baseline: Baseline, measure: str) -> list[str]:
    """To the full set, and how far its interval reaches."""
    found = baseline.get("difference", {}).get(loss_key(measure))
    between = found["interval"] if found else []
    mean = "" if found is None else loss_text(found["mean"], measure, "+")
    reach = number((between[1] - between[0]) / 2, measure) if len(between) == 2 else ""
    return [mean, reach]


def config_rows(metrics: Metrics) -> list[list[str]]:
    return [[key, text(value)] for key, value in flat(plain(metrics["config"])).items()]


def seconds_rows(metrics: Metrics) -> list[list[str]]:
    spent = cast("dict[str, float]", metrics["seconds"])
    return [[stage, f"{seconds:.3f}"] for stage, seconds in spent.items()]


def knows_labels(metrics: Metrics) -> bool:
    """Whether there are rows to trust, by which wrong labels can be counted."""
    check = metrics.get("validation_check")
    return bool(check and check["cleaner"])


def wrong_labels(metrics: Metrics, rows: pa.Table) -> list[list[str]]:
    """The rows whose labels look wrong, the most probable first: the head and the lines."""
    if not labels_line(metrics) or "label_error" not in rows.column_names:
        return []
    error = values(rows["label_error"])
    count = int((error > LIKELY).sum())
    most = min(MOST_LABELS, count if knows_labels(metrics) else max(count, FIRST_LABELS))
    first = [int(i) for i in np.argsort(-error, kind="stable")[:most]]
    words = ["row", *id_names(rows), "label", "suggested_label"]
    head = [*words[:-1], "suggested label", "probability that it is wrong", "kept"]
    listed = [
        [
            *(text(rows[name][i].as_py()) for name in words[:-2]),
            *(label_text(rows[name][i].as_py()) for name in words[-2:]),
            share(float(error[i])),
            "yes" if rows["kept"][i].as_py() else "no",
        ]
        for i in first
    ]
    return [head, *listed] if listed else []


def files(folder: Path) -> list[Link]:
    """Links to what is in the folder: the known files first, then figures, then the rest."""
    known = [name for name in FILES if name == LAST or (folder / name).is_file()]
    figures = sorted(path.relative_to(folder).as_posix() for path in folder.glob("figures/*.png"))
    others = sorted(
        path.name
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith(".") and path.name not in FILES
    )
    others = [name for name in others if name != "report.html"][:MOST_FILES]
    return [Link(name, quote(name), FILES.get(name, "")) for name in (*known, *figures, *others)]
