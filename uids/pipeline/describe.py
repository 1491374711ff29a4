"""What a run was, in plain values: the parts of ``metrics.json`` that are not measurements."""

from __future__ import annotations

import dataclasses
import platform
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, cast

from uids import __version__
from uids.datasets.adopted import AdoptedDataset
from uids.datasets.data import Data
from uids.datasets.split import Split
from uids.pipeline.components import Components
from uids.pipeline.dataset_metrics import ColumnMetrics, DatasetMetrics, spelt
from uids.pipeline.metrics import (
    Config,
    Environment,
    InfluenceMetrics,
    LabelMetrics,
    ValidationCheckMetrics,
)
from uids.pipeline.settings import Settings
from uids.registry import plugins
from uids.scoring.influence import Influence
from uids.scoring.labels import LabelAudit
from uids.scoring.validation_check import ValidationCheck

if TYPE_CHECKING:
    from uids.datasets.encoding import ColumnNote  # imports arrow

MOST_COLUMNS = 500  # of a table that are told of


def describe(parts: Components, settings: Settings) -> Config:
    """Everything that decides the result, as plain values."""
    described = {kind: {"name": c.name, **c.fields} for kind, c in parts.chosen().items()}
    return cast(Config, {**described, **dataclasses.asdict(settings)})


def describe_data(dataset: AdoptedDataset, shares: Split, data: Data) -> DatasetMetrics:
    about: DatasetMetrics = {
        "name": dataset.name,
        "rows": {
            "train": len(shares.train.y),
            "validation": len(shares.validation.y),
            "test": 0 if shares.test is None else len(shares.test.y),
        },
        "features": int(data.X.shape[1]),
        "classes": len(shares.labels),
        "labels": [spelt(label) for label in shares.labels],
        "flipped": len(shares.flipped),
        "source_rows": len(data.y),
    }
    if dataset.file_format:
        about["file_format"] = dataset.file_format
    if data.encoding is not None:
        columns = data.encoding.columns
        about["columns"] = [column_metrics(column) for column in columns[:MOST_COLUMNS]]
        if len(columns) > MOST_COLUMNS:
            about["more_columns"] = len(columns) - MOST_COLUMNS
    return about


def column_metrics(column: ColumnNote) -> ColumnMetrics:
    return {
        "name": column.name,
        "kind": column.kind,
        "features": column.features,
        "note": column.note,
    }


def describe_influence(scored: Influence) -> InfluenceMetrics:
    return {
        "status": scored.solution.status,
        "solver": scored.solution.note,
        "iterations": scored.solution.iterations,
        "relative_residual": scored.solution.relative_residual,
        "identity_error": scored.identity_error,
        "harmful_fraction": float((scored.phi > 0).mean()),
        "minimum": float(scored.phi.min()),
        "maximum": float(scored.phi.max()),
        "sum": float(scored.phi.sum()),
    }


def describe_check(check: ValidationCheck) -> ValidationCheckMetrics:
    return {"cleaner": check.cleaner, "p_value": check.p_value, "sentence": check.sentence}


def describe_labels(labels: LabelAudit, trusted: bool, few: bool) -> LabelMetrics:
    """``trusted``: the validation rows are cleaner; ``few``: they are."""
    wrong = f"{labels.wrong:,.0f} of the {len(labels.error):,} training labels look wrong"
    where = ", more often in some classes than in others" if labels.by_class else ""
    none = labels.wrong < 0.5
    if trusted and not few:
        sentence = "No training label looks wrong." if none else f"About {wrong}{where}."
    else:
        told = "How many training labels are wrong cannot be told" if none else f"At least {wrong}"
        why = (
            "the validation rows are few"
            if trusted
            else "without rows to trust, the model has learnt whatever noise there is"
        )
        sentence = (
            f"{told}{'' if none else where}: {why}. The order of the rows holds: look at the first "
            "of them."
        )
    return {
        "wrong": labels.wrong,
        "by_class": labels.by_class,
        "transition": labels.transition.tolist(),
        "sentence": sentence,
    }


@cache
def versions() -> dict[str, str]:
    """Of what computes; read from the installed packages once."""
    found = {}
    for package in ("numpy", "scipy", "scikit-learn", "hydra-core"):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def environment() -> Environment:
    return {
        "uids": __version__,
        "python": platform.python_version(),
        **versions(),
        "platform": platform.platform(),
        "plugins": [
            {
                "kind": entry.kind,
                "name": entry.name,
                "package": entry.package,
                "version": entry.version,
            }
            for entry in plugins()
        ],
    }
