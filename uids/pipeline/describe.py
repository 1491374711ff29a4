"""What a run was, in plain values: the parts of ``metrics.json`` that are not measurements."""

from __future__ import annotations

import dataclasses
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from uids import __version__
from uids.datasets.split import Split
from uids.pipeline.settings import Settings
from uids.registry import REGISTRIES, Entry, plugins
from uids.scoring.influence import Influence


@dataclass(frozen=True)
class Components:
    """One component of each kind."""

    dataset: Any
    model: Any
    solver: Any
    sampler: Any
    backend: Any


def entry_of(kind: str, component: Any) -> Entry | None:
    """The registry's entry for the component's class, if it is registered."""
    target = f"{type(component).__module__}:{type(component).__qualname__}"
    entries = REGISTRIES[kind].entries()
    return next((entry for entry in entries if entry.target == target), None)


def name_of(kind: str, component: Any) -> str:
    """The name under which the component's class is registered, else the class's own."""
    entry = entry_of(kind, component)
    return entry.name if entry else str(type(component).__qualname__)


def fields_of(component: Any) -> dict[str, Any]:
    """The component's config."""
    fields = [f for f in dataclasses.fields(component) if f.init and f.repr]
    return {f.name: getattr(component, f.name) for f in fields}


def describe(parts: Components, settings: Settings) -> dict[str, Any]:
    """Everything that decides the result, as plain values."""
    described: dict[str, Any] = {}
    for field in dataclasses.fields(parts):
        component = getattr(parts, field.name)
        described[field.name] = {"name": name_of(field.name, component), **fields_of(component)}
    return {**described, **dataclasses.asdict(settings)}


def describe_data(parts: Components, shares: Split, features: int) -> dict[str, Any]:
    return {
        "name": name_of("dataset", parts.dataset),
        "rows": {
            "train": len(shares.train.y),
            "validation": len(shares.validation.y),
            "test": 0 if shares.test is None else len(shares.test.y),
        },
        "features": features,
        "classes": len(shares.labels),
        "labels": [str(label) for label in shares.labels],
        "flipped": len(shares.flipped),
    }


def describe_influence(found: Influence) -> dict[str, Any]:
    return {
        "status": found.solution.status,
        "solver": found.solution.note,
        "iterations": found.solution.iterations,
        "relative_residual": found.solution.relative_residual,
        "identity_error": found.identity_error,
        "harmful_fraction": float((found.phi > 0).mean()),
        "minimum": float(found.phi.min()),
        "maximum": float(found.phi.max()),
        "sum": float(found.phi.sum()),
    }


def environment() -> dict[str, Any]:
    versions = {}
    for package in ("numpy", "scipy", "scikit-learn", "hydra-core"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "uids": __version__,
        "python": platform.python_version(),
        **versions,
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
