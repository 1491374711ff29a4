"""Configs may come from strangers, and must not be able to run code.

uids itself never calls what a config names: components are looked up in the registries. Hydra does,
for its launchers, sweepers and callbacks, and Python's logging does for handlers. So when a folder
of a person's own is on the search path, these parts of the composed config must be what they would
be without it. What the person types on the command line is theirs to decide.
"""

from __future__ import annotations

from omegaconf import DictConfig, OmegaConf

from uids.errors import UidsError

GUARDED = (
    *("callbacks", "hydra_logging", "job_logging", "job.env_set"),
    *("launcher._target_", "sweeper._target_"),
)


def check_trusted(composed: DictConfig, reference: DictConfig) -> None:
    """Refuse a composed config whose guarded parts differ from those of ``reference``."""
    for key in GUARDED:
        if _plain(composed, key) != _plain(reference, key):
            raise UidsError(
                f"a config file sets hydra.{key}, by which it could run code; remove that, or give "
                "it on the command line"
            )


def _plain(config: DictConfig, key: str) -> object:
    value = OmegaConf.select(config.hydra, key)
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value
