"""The five components of a run, each behind the door of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from uids.backends import AdoptedBackend
from uids.datasets.adopted import AdoptedDataset
from uids.models import AdoptedModel
from uids.registry import Chosen
from uids.samplers.adopted import AdoptedSampler
from uids.solvers import AdoptedSolver


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


def components(chosen: Mapping[str, Chosen]) -> Components:
    """From the choice of each kind."""
    return Components(
        AdoptedDataset(chosen["dataset"]),
        AdoptedModel(chosen["model"]),
        AdoptedSolver(chosen["solver"]),
        AdoptedSampler(chosen["sampler"]),
        AdoptedBackend(chosen["backend"]),
    )
