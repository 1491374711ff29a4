"""The five components of a run, each behind the door of its kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from uids.backends import AdoptedBackend
from uids.datasets.adopted import AdoptedDataset
from uids.models import AdoptedModel
from uids.registry import Chosen
from uids.samplers.adopted import AdoptedSampler
from uids.solvers import AdoptedSolver
from uids.system.keys import AUTO

DEFAULT_SAMPLER = "sigmoid"


@dataclass(frozen=True)
class Components:
    dataset: AdoptedDataset
    model: AdoptedModel
    solver: AdoptedSolver
    sampler: AdoptedSampler
    backend: AdoptedBackend

    def chosen(self) -> dict[str, Chosen]:
        parts = (self.dataset, self.model, self.solver, self.sampler, self.backend)
        return {part.chosen.kind: part.chosen for part in parts}


def with_open_C(model: Chosen) -> Chosen:
    """The model with its C left to the choice, where it can be."""
    fields = {field.name: str(field.type) for field in dataclasses.fields(model.component)}
    if "str" not in fields.get("C", ""):
        return model
    return model.replaced(dataclasses.replace(model.component, C=AUTO))


def components(chosen: Mapping[str, Chosen]) -> Components:
    """From the choice of each kind."""
    return Components(
        AdoptedDataset(chosen["dataset"]),
        AdoptedModel(chosen["model"]),
        AdoptedSolver(chosen["solver"]),
        AdoptedSampler(chosen["sampler"]),
        AdoptedBackend(chosen["backend"]),
    )
