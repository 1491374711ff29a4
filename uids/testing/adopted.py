"""The door of the checks: a component as an author has it at hand, by name, as a class or made."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from uids.backends import Array
from uids.errors import UidsError
from uids.models import AdoptedFitted, Rows
from uids.models.adopted import choose_model
from uids.registry import REGISTRIES, Chosen


def choose_for_check(kind: str, component: Any) -> Chosen:
    """A class is made with its defaults; a registered name too."""
    if isinstance(component, Chosen):
        return component
    if isinstance(component, type):
        component = made(kind, component)
    return choose_model(component) if kind == "model" else REGISTRIES[kind].choose(component)


def is_continuous(chosen: Chosen) -> bool:
    """Whether a model is one of numbers, which has predictions in place of probabilities."""
    return bool(getattr(chosen.component, "continuous", False))


def predicted(fitted: AdoptedFitted, rows: Rows) -> Array:
    """Probabilities of the classes, (n, K), or the predictions of a model of numbers, (n,)."""
    if rows.classes:
        return fitted.probabilities(rows)
    with fitted.blame:
        return np.asarray(fitted.value.predictions(rows))


def made(kind: str, cls: type) -> Any:
    if not dataclasses.is_dataclass(cls):
        raise UidsError(f"{cls.__name__} is no dataclass: its fields are its config")
    needed = needed_fields(cls)
    if needed:
        raise UidsError(
            f"{cls.__name__} has fields without a default ({', '.join(needed)}): give an object, "
            f"check_{kind}({cls.__name__}({needed[0]}=…))"
        )
    return cls()


def needed_fields(cls: Any) -> list[str]:
    """Those that have no default, of a dataclass."""
    return [
        field.name
        for field in dataclasses.fields(cls)
        if field.init
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
