"""What a run would do, told before it is done: which backend and solver, and why; and how much
there is to try where something is left to choose."""

from __future__ import annotations

from dataclasses import dataclass

from uids.backends import Matrix
from uids.models import Rows
from uids.pipeline.components import Components
from uids.pipeline.dataset_metrics import DatasetMetrics
from uids.pipeline.describe import describe_data
from uids.pipeline.run import check_together
from uids.pipeline.settings import Settings
from uids.pipeline.stages import rows_of, shared_out
from uids.selection.choose import left_open
from uids.selection.cost import most_fits
from uids.system.memory import memory

NUMBER_BYTES = 8  # of a float64
INDEX_BYTES = 4  # of the column beside each stored entry of a sparse matrix


@dataclass(frozen=True)
class Plan:
    """Each a sentence."""

    data: str
    memory: str
    backend: str
    solver: str
    choice: str  # empty where everything is given
    columns: str  # what becomes of those of a table, a line each

    def __str__(self) -> str:
        return "\n".join(f"{name:<8} {said}" for name, said in vars(self).items() if said)


def plan(parts: Components, settings: Settings) -> Plan:
    """Reads the data, and makes neither a fit nor a product."""
    check_together(parts, settings)
    data = parts.dataset.load(parts.backend.chosen.component)
    shares = shared_out(parts, settings, data)
    backend = parts.backend.plan(shares.sources[shares.train.origin])
    train, _, _ = rows_of(shares, parts.backend, trial=False)
    about = describe_data(parts.dataset, shares, data)
    return Plan(
        data_line(about),
        memory_line(train.X),
        backend,
        solver_line(parts, train),
        choice_line(parts, settings, len(shares.validation.y)),
        "\n         ".join(column_lines(about)),
    )


def data_line(about: DatasetMetrics) -> str:
    rows = about["rows"]
    return (
        f"{about['name']}: {rows['train']:,} training, {rows['validation']:,} validation and "
        f"{rows['test']:,} test rows, {about['features']:,} features, {target_words(about)}"
    )


def target_words(about: DatasetMetrics) -> str:
    """How many classes, or that there are none."""
    return f"{about['classes']} classes" if about["classes"] else "numbers to predict"


def column_lines(about: DatasetMetrics) -> list[str]:
    lines = []
    for column in about.get("columns", []):
        width = f", {column['features']:,} features" if column["features"] > 1 else ""
        note = f" ({column['note']})" if column["note"] else ""
        lines.append(f"{column['name']}: {column['kind']}{width}{note}")
    return lines


def memory_line(X: Matrix) -> str:
    size = X.stored * (NUMBER_BYTES + INDEX_BYTES if X.sparse else NUMBER_BYTES)
    kind = f"{X.stored:,} stored entries" if X.sparse else "dense"
    return (
        f"the training rows take about {size / 2**20:,.1f} MiB ({kind}); "
        f"this machine has {memory() / 2**30:,.1f} GiB"
    )


def solver_line(parts: Components, train: Rows) -> str:
    untrained = parts.model.untrained(train)
    if untrained is None:
        return f"{parts.solver.name}; model {parts.model.name!r} tells no more before it is fitted"
    return parts.solver.plan(untrained.curvature(train))


def choice_line(parts: Components, settings: Settings, m: int) -> str:
    wanted = left_open(parts.model, parts.sampler, settings)
    if not wanted:
        return ""
    keys = {"alpha": "sampler.alpha", "C": "model.C", "weight": "validation_weight"}
    words = ", ".join(keys.get(name, name) for name, is_open in vars(wanted).items() if is_open)
    most = most_fits(wanted, settings, parts.sampler.alternatives(), m)
    return f"{words}: at most {most:,} fits, each from its neighbour's; most walks take a third"
