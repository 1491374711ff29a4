"""What a run would do, told before it is done: which backend and which solver, and why."""

from __future__ import annotations

from dataclasses import dataclass

from uids.backends import Matrix
from uids.datasets.split import split
from uids.models import Rows
from uids.pipeline.components import Components
from uids.pipeline.describe import describe_data
from uids.pipeline.metrics import DatasetMetrics
from uids.pipeline.run import check_together
from uids.pipeline.settings import Settings
from uids.pipeline.stages import rows_of
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

    def __str__(self) -> str:
        return "\n".join(
            [
                f"data     {self.data}",
                f"memory   {self.memory}",
                f"backend  {self.backend}",
                f"solver   {self.solver}",
            ]
        )


def plan(parts: Components, settings: Settings) -> Plan:
    """Reads the data, and makes neither a fit nor a product."""
    check_together(parts, settings)
    data = parts.dataset.load()
    shares = split(data, settings.split, settings.noise, settings.split_seed, settings.noise_kind)
    backend = parts.backend.plan(shares.sources[shares.train.origin])
    train, _, _ = rows_of(shares, parts.backend)
    about = describe_data(parts.dataset.name, shares, data.X.shape[1])
    return Plan(data_line(about), memory_line(train.X), backend, solver_line(parts, train))


def data_line(about: DatasetMetrics) -> str:
    rows = about["rows"]
    return (
        f"{about['name']}: {rows['train']:,} training, {rows['validation']:,} validation and "
        f"{rows['test']:,} test rows, {about['features']:,} features, {about['classes']} classes"
    )


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
