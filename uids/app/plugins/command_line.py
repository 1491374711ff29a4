"""The check that a component can be chosen and set from the command line."""

from __future__ import annotations

from omegaconf import OmegaConf

from uids.app.build import plain_config
from uids.app.hydra_source import component_node
from uids.registry import REGISTRIES, Chosen
from uids.system.files import plain
from uids.testing.check import demand


def command_line(chosen: Chosen) -> None:
    """Its fields can be given as words (sampler.gamma=2), and make the same object."""
    entry, fields = chosen.entry, plain(chosen.fields)
    assert entry is not None  # it was found by its name
    node = component_node(entry.kind, entry.name)
    for name, value in fields.items():
        OmegaConf.update(node, name, value, merge=False)
    again = REGISTRIES[entry.kind].build(**plain_config(node))
    demand(
        again == chosen.component,
        f"the words for its fields, {fields}, make {again!r}, not {chosen.component!r}",
    )
