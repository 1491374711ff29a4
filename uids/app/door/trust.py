"""What was composed, against what it would be without a folder of configs.

uids itself never calls what a config names: components are looked up in the registries. Hydra does,
for its launchers, sweepers and callbacks, and Python's logging does for handlers. ``OwnFolder``
lets no file near them; this is the second lock, for ways to say a thing that were not thought of,
and for configs that an installed package brings (``pkg://``).
"""

from __future__ import annotations

from collections.abc import Iterator

from omegaconf import DictConfig, OmegaConf

from uids.app.door.allowed import AXES, FOLDERS
from uids.errors import UidsError
from uids.registry import REPORTERS

# What of Hydra may differ: what files may set, and Hydra's own record of the command.
FREE = (
    *(*FOLDERS, AXES, "hydra.overrides", "hydra.searchpath", "hydra.job.override_dirname"),
    *("hydra.runtime.choices", "hydra.runtime.config_sources"),
)


def check_trusted(composed: DictConfig, reference: DictConfig) -> None:
    """Refuse a config that differs from ``reference`` in more of Hydra than files may set, or in
    the reporter."""
    seen, wanted = dict(leaves(composed)), dict(leaves(reference))
    for key in {**seen, **wanted}:
        if key not in seen or key not in wanted or seen[key] != wanted[key]:
            if key.partition(".")[0] == REPORTERS.kind:
                raise UidsError("reporter= is for the command line, and has one value in a sweep")
            raise UidsError(
                f"a config file sets {key!r}, by which it could run code or write anywhere; remove "
                "that, or give it on the command line"
            )


def leaves(config: DictConfig) -> Iterator[tuple[str, object]]:
    """The keys and values that must not differ, references unresolved: of Hydra, and of whoever the
    results are handed to."""
    for key in ("hydra", REPORTERS.kind):
        value = config[key]
        plain = OmegaConf.to_container(value, resolve=False) if value is not None else None
        yield from below(plain, key)


def below(value: object, path: str) -> Iterator[tuple[str, object]]:
    if any(f"{path}.".startswith(f"{free}.") for free in FREE):
        return
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from below(child, f"{path}.{key}")
    else:
        yield path, value
