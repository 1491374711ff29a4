"""Networks for ``torch_module``, by name. Other packages add theirs under ``uids.networks``."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from uids.errors import require
from uids.registry import Registry


@dataclass(frozen=True)
class MLP:
    """One hidden layer with tanh, which is smooth: the Hessian is what it seems."""

    hidden: int = 16

    def __post_init__(self) -> None:
        require(self.hidden >= 1, "hidden", "1 or more", self.hidden)

    def build(self, features: int, outputs: int) -> torch.nn.Module:
        return torch.nn.Sequential(
            torch.nn.Linear(features, self.hidden),
            torch.nn.Tanh(),
            torch.nn.Linear(self.hidden, outputs),
        )


NETWORKS = Registry("network", {"mlp": "uids.models.torch.networks:MLP"})
