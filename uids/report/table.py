"""Tables and sentences about a run, as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from uids.models import LOGLOSS
from uids.pipeline.dataset_metrics import DatasetMetrics
from uids.pipeline.measured import loss_of, measured, shown_measures
from uids.pipeline.metrics import PARTS, Metrics, Part, PartMeasures
from uids.registry import REGISTRIES
from uids.scoring.influence import TRUSTED
from uids.selection.measures import loss_key, loss_text
from uids.system.statistics import standard_error
from uids.system.visible import visible

MOST_COLUMNS = 30  # of a table that a terminal is told of
OPTIMISTIC = (
    "There are no test rows. The validation figures are optimistic: the validation rows chose "
    "the subset."
)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head. Numbers are aligned to the right, words to the left."""
    rows = [[visible(cell) for cell in row] for row in rows]
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
    plain = cell.lstrip("+-−").replace("e+", "").replace("e-", "")
    return not cell or plain.replace(".", "").replace(",", "").rstrip("%").isdigit()


NO_CLASSES = (
    "What is predicted are numbers: accuracy, AUC, the worst case and the label audit are for "
    "classes, and left out."
)


def number(value: float | None, measure: str = LOGLOSS) -> str:
    return "" if value is None else loss_text(value, measure)


def change(before: float | None, after: float | None, measure: str = LOGLOSS) -> str:
    if before is None or after is None:
        return ""
    if loss_text(0.0, measure) == "0":
        return loss_text(after - before, measure, "+")
    return f"{round(after - before, 4) + 0.0:+.4f}"  # + 0.0, since −0.0000 is nothing


def comparison(metrics: Metrics) -> list[list[str]]:
    """Full against subset, for each measure and each part: the head and the lines. Where nothing
    was dropped, against the model that was chosen, on the rows that it was not fitted on; empty
    where there are none."""
    everything = metrics["subset"]["size"] == metrics["dataset"]["rows"]["train"]
    rows = [["", "", "full", "chosen" if everything else "subset", "difference"]]
    other: PartMeasures = metrics["subset"]
    parts: Sequence[Part] = PARTS
    if everything and "final" in metrics:
        other = metrics["final"]
        parts = ("test",) if fitted_on_validation(metrics) else PARTS
    for part in parts:
        full, subset = metrics["full"][part], other[part]
        if full is None or subset is None:
            continue
        lines: list[tuple[str, str, float | None, float | None]] = []
        for name in shown_measures(metrics):
            key = loss_key(name)
            lines.append((name, name, measured(full, key), measured(subset, key)))
        worst, others = full["worst_case_logloss"] or {}, subset["worst_case_logloss"] or {}
        for delta in worst:
            lines.append((f"worst case, δ = {delta}", LOGLOSS, worst[delta], others[delta]))
        for i, (name, unit, before, after) in enumerate(lines):
            numbers = [number(before, unit), number(after, unit), change(before, after, unit)]
            rows.append([part if i == 0 else "", name, *numbers])
    return rows if len(rows) > 1 else []


def fitted_on_validation(metrics: Metrics) -> bool:
    """Whether the model to use is."""
    chosen = metrics["selection"]["choice"] if "selection" in metrics else metrics["config"]
    return str(chosen.get("final", "")).endswith("validation")


def error_over_repeats(metrics: Metrics, part: Part = "test", name: str = LOGLOSS) -> float | None:
    """The standard error of the mean over the repeats; None where it has no meaning."""
    measures = [repeat[part] for repeat in metrics["subset"]["repeats"]]
    values = [None if each is None else measured(each, loss_key(name)) for each in measures]
    known = [value for value in values if value is not None]
    return standard_error(known) if len(known) == len(values) else None


def kept(metrics: Metrics) -> str:
    n, size = metrics["dataset"]["rows"]["train"], metrics["subset"]["size"]
    draws = len(metrics["subset"]["repeats"])
    means = f"; the subset's figures are means over {draws} draws" if draws > 1 else ""
    follows = ""
    if metrics["config"]["draw"] == "bernoulli":
        follows = " (draw=bernoulli: the size follows π, not the ratio)"
    return f"kept {size:,.0f} of {n:,} training rows ({size / n:.1%}){follows}{means}"


def baseline_table(metrics: Metrics) -> list[list[str]]:
    """Test measures of the baselines: the head and the lines; empty without test rows."""
    baselines = metrics.get("baselines")
    if not baselines:
        return []
    loss, *others = shown_measures(metrics)
    rows = [["trained on", f"test {loss}", *others]]
    for name, baseline in baselines.items():
        test = baseline["test"]
        cells = [number(measured(test, loss_key(each)), each) for each in (loss, *others)]
        rows.append([trained_on(name), *cells])
    return rows


def class_table(metrics: Metrics) -> list[list[str]]:
    """Of each class the training rows, how many of them were dropped, and the recall: the head and
    the lines; empty where the classes are even."""
    told = metrics.get("classes", [])
    if not told:
        return []
    part = "validation" if metrics["full"]["test"] is None else "test"
    head = ["class", "training rows", "dropped", f"{part} recall, full", "model to use"]
    return [
        head,
        *(
            [
                each["label"],
                f"{each['rows']:,}",
                f"{each['dropped'] / each['rows']:.1%}" if each["rows"] else "",
                number(each["full_recall"]),
                number(each["final_recall"]),
            ]
            for each in told
        ),
    ]


def column_table(dataset: DatasetMetrics, most: int = MOST_COLUMNS) -> list[list[str]]:
    """What was made of the columns of a table: the head and the lines; none where it was none."""
    told = dataset.get("columns", [])
    if not told:
        return []
    more = max(0, len(told) - most) + dataset.get("more_columns", 0)
    return [
        ["column", "is", "features", "note"],
        *([c["name"], c["kind"], f"{c['features']:,}", c["note"]] for c in told[:most]),
        *([[f"and {more:,} more", "", "", ""]] if more > 0 else []),
    ]


def trained_on(baseline: str) -> str:
    """full_plus_validation ↦ full + validation"""
    name = baseline.removeprefix("tuned_").replace("_plus_", " + ")
    return f"{name}, tuned" if baseline.startswith("tuned_") else name


def selection_line(metrics: Metrics) -> str:
    """What was chosen and why; empty when there was nothing to choose."""
    selection = metrics.get("selection")
    if not selection:
        return ""
    return f"why: {selection['reason']}" if selection["reason"] else ""


def conclusion_line(metrics: Metrics) -> str:
    """The one answer; empty for runs from before there was one."""
    conclusion = metrics.get("conclusion")
    return conclusion["sentence"] if conclusion else ""


def labels_line(metrics: Metrics) -> str:
    """About how many labels look wrong."""
    labels = metrics.get("labels")
    return labels["sentence"] if labels else ""


def doubt(metrics: Metrics) -> str:
    """Empty when φ can be trusted; else why not."""
    influence = metrics["influence"]
    reasons = []
    if not influence["relative_residual"] <= TRUSTED:
        reasons.append(
            "the solve is inaccurate (relative residual): lower solver.tol or use another solver"
        )
    if not influence["identity_error"] <= TRUSTED:
        fit = "the fit is not at its optimum (identity error): lower model.tol or model.C"
        ours = metrics["config"]["model"]["name"] in REGISTRIES["model"].builtins
        other = "or the model's gradients are wrong, which `uids plugins check` would tell"
        reasons.append(fit if ours else f"{fit}, {other}")
    return "Do not trust φ: " + "; ".join(reasons) if reasons else ""


def noise_line(metrics: Metrics) -> str:
    """How many of the rows that noise made wrong φ has found; empty when there are none."""
    noise = metrics.get("noise")
    if not noise:
        return ""
    return (
        f"{noise['precision']:.1%} of the {noise['flipped']:,} rows with the largest φ have "
        f"{what_is_wrong(metrics)}; AUC {noise['auc']:.3f}"
    )


def what_is_wrong(metrics: Metrics) -> str:
    """What the rows have that noise made wrong, by its kind."""
    kind = metrics["config"].get("noise_kind", "uniform")
    label = "a flipped label" if metrics["dataset"]["classes"] else "a number of another row"
    return "noisy features" if kind == "features" else label


def run_table(metrics: Metrics, folder: Path) -> str:
    """What a person sees at the end of a run."""
    influence, seconds = metrics["influence"], metrics["seconds"]
    tables, compared = [conclusion_line(metrics), ""], comparison(metrics)
    if compared:
        tables += [columns(compared), ""]
    if metrics.get("baselines"):
        tables += [columns(baseline_table(metrics)), ""]
    if metrics.get("classes"):
        tables += [columns(class_table(metrics)), ""]
    if metrics["dataset"].get("columns"):
        tables += [columns(column_table(metrics["dataset"])), ""]
    sentences = [
        labels_line(metrics),
        "" if metrics["dataset"]["classes"] else NO_CLASSES,
        selection_line(metrics),
        kept(metrics),
        OPTIMISTIC if metrics["full"]["test"] is None else "",
        noise_line(metrics),
        check_line(metrics),
        doubt(metrics),
        f"{influence['harmful_fraction']:.1%} of the rows are harmful; solve: "
        f"{influence['status']}, relative residual {influence['relative_residual']:.0e}, "
        f"identity error {influence['identity_error']:.0e}",
        f"{seconds['total']:.2f} s{cached(metrics)}   report: {folder / 'report.html'}",
    ]
    return "\n".join([*tables, *(sentence for sentence in sentences if sentence)])


def check_line(metrics: Metrics) -> str:
    """Whether the validation rows are any cleaner; empty for runs from before this was tested."""
    check = metrics.get("validation_check")
    return check["sentence"] if check else ""


def cached(metrics: Metrics) -> str:
    return " (θ̂ and φ from the cache)" if metrics.get("cache") == "hit" else ""


def run_line(metrics: Metrics, overrides: Sequence[str]) -> str:
    """What a person sees at the end of a point of a sweep: the figures of the sweep's table, which
    has the subset's mean over its draws."""
    part: Part = "validation" if metrics["full"]["test"] is None else "test"
    full, subset = metrics["full"][part], metrics["subset"][part]
    draws = len(metrics["subset"]["repeats"])
    name = loss_of(metrics)
    losses = [number(each and measured(each, loss_key(name)), name) for each in (full, subset)]
    mean = f"mean of {draws} draws, " if draws > 1 else ""
    return (
        f"done: {' '.join(overrides) or 'defaults'}: {part} {name} of the subset {losses[1]} "
        f"({mean}full {losses[0]}), {metrics['seconds']['total']:.1f} s{cached(metrics)}"
    )
