"""From a composed config to the components and the settings of a run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf

from uids.errors import UidsError
from uids.pipeline.components import Components, components
from uids.pipeline.identity import run_identity
from uids.pipeline.settings import Settings, make_settings
from uids.registry import REGISTRIES, Chosen


@dataclass(frozen=True)
class Built:
    """A run that could start: every component is made, every range checked."""

    config: dict[str, Any]
    components: Components
    settings: Settings

    def missing(self) -> str:
        """Why the data set cannot be read without a download; empty when it is here."""
        return self.components.dataset.missing()

    def identity(self) -> str:
        """What decides the result, with the data files as they are now."""
        chosen = list(self.components.chosen().values())
        return run_identity(self.config, chosen, self.components.dataset.fingerprint())


def plain_config(config: DictConfig) -> dict[str, Any]:
    """In Python's own types; an error where a value that must be given is not."""
    plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    assert isinstance(plain, dict)  # the keys of a config are at its top
    return {str(key): value for key, value in plain.items()}


def build(config: DictConfig) -> Built:
    """Every component and the settings, all ranges checked, before any work starts."""
    plain = plain_config(config)
    chosen = {kind: choose(kind, config, plain[kind]) for kind in REGISTRIES}
    keys = {key: value for key, value in plain.items() if key not in (*REGISTRIES, "sweep")}
    return Built(plain, components(chosen), make_settings(**keys))


def choose(kind: str, config: DictConfig, fields: object) -> Chosen:
    """The component that the node of its kind names, with the fields that it gives."""
    if not isinstance(fields, dict) or "name" not in fields:
        raise UidsError(
            f"the config of {kind!r} names no component: choose one with {kind}=NAME; a preset "
            "begins with its defaults, [NAME, _self_]"
        )
    entry = REGISTRIES[kind].entry(fields["name"])
    if declared_name(OmegaConf.get_type(config[kind])) not in (None, entry.name):
        raise UidsError(f"choose a {kind} with {kind}={entry.name}, not with {kind}.name")
    return Chosen(kind, REGISTRIES[kind].build(**fields), entry)


def declared_name(node_type: type | None) -> str | None:
    """The name of the component that a typed node is of, whatever its config says now."""
    if node_type is None or not dataclasses.is_dataclass(node_type):
        return None
    return next((str(f.default) for f in dataclasses.fields(node_type) if f.name == "name"), None)
