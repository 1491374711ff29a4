"""What a single run may not be."""

from __future__ import annotations

from hydra.conf import HydraConf
from omegaconf import DictConfig

from uids.errors import UidsError


def refuse_sweep(config: DictConfig, about: HydraConf) -> None:
    """An experiment that has axes is no single run."""
    if config.sweep.grids or about.sweeper.get("params"):
        experiment = about.runtime.choices.get("experiment")
        raise UidsError(f"experiment={experiment} is a sweep: add -m")
