"""What is checked of the config of any component."""

from __future__ import annotations

import dataclasses
import json

from uids.registry import REGISTRIES, Chosen
from uids.system.files import plain
from uids.testing.check import demand


def config(chosen: Chosen) -> None:
    """config → object → metrics → config: the fields, as metrics.json has them, make it again."""
    component, cls = chosen.component, type(chosen.component)
    for field in dataclasses.fields(component):
        demand(field.name != "name", "a field 'name': that word is taken by the registry")
        demand(field.init, f"the field {field.name!r} has init=False: a config cannot give it")
    written = json.loads(json.dumps(plain(chosen.fields), allow_nan=False))
    if chosen.entry is not None:
        again = REGISTRIES[chosen.kind].build(chosen.entry.name, **written)
    else:
        again = cls(**written)
    demand(
        again == component,
        f"the fields that metrics.json has, {written}, make {again!r}, not {component!r}",
    )
