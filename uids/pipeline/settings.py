"""The top-level keys of a run: those of the rooms put together, and the run's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from uids.datasets.settings import SplitSettings, check_kind
from uids.errors import UidsError, check_types, one_line, require, shown, unknown
from uids.registry import Chosen, refuse_fields
from uids.scoring.settings import ScoringSettings
from uids.selection.settings import ChooseSettings, SelectionSettings
from uids.system.keys import AUTO, key

# What ``auto`` opens, with the value that each has unsaid; beside these the sampler and model.C.
OPENED = {"ratio": 0.95, "stratify": None, "final": "subset", "validation_weight": 1.0}
NESTED = {"split": SplitSettings, "choose": ChooseSettings}


@dataclass(frozen=True)
class Settings(ScoringSettings, SelectionSettings):
    """What decides a run, beside its five components."""

    seed: int = key(0, "seed of everything random")
    repeats: int = key(
        10, "subsets drawn and refitted, for means (one if the sampler is deterministic)"
    )
    split: SplitSettings = field(default_factory=SplitSettings)
    noise: float = key(0.0, "share of the training labels to flip, to see whether uids finds them")
    noise_kind: str = key(
        "uniform",
        "uniform, class (odd classes lose labels to the one below), region (wrong labels in one "
        "corner), features (noise on x, not on labels), or both (validation labels too)",
    )
    cache: bool = key(
        True, "reuse fits, influence and finished runs; false: compute everything again"
    )
    download: bool = key(True, "fetch a public data set that is not here; false: skip its runs")

    def __post_init__(self) -> None:
        SelectionSettings.__post_init__(self)
        ScoringSettings.__post_init__(self)
        if self.stratify is None:  # the paper's draws are class by class
            papers = self.split.kind == "paper" or self.draw == "rounds"
            object.__setattr__(self, "stratify", papers)
        require(self.seed >= 0, "seed", "0 or more", self.seed)
        require(self.repeats >= 1, "repeats", "1 or more", self.repeats)
        require(0 <= self.noise < 1, "noise", "in [0, 1)", self.noise)
        check_kind(self.noise_kind)

    @property
    def split_seed(self) -> int:
        return self.seed if self.split.seed is None else self.split.seed


def opened(keys: Mapping[str, Any]) -> dict[str, Any]:
    """The keys with ``auto`` for those that were not given, where ``auto=true``."""
    if not keys.get("auto"):
        return dict(keys)
    return {**{name: AUTO for name in OPENED if name not in keys}, **keys}


def refuse_stray(keys: Mapping[str, Any], chosen: Mapping[str, Chosen]) -> None:
    """Keys that have another place, with that place: fields of the chosen components, and of
    ``split`` and ``choose``."""
    stray = {name: value for name, value in keys.items() if name not in names_of(Settings)}
    refuse_fields(chosen.values(), stray)
    for name, value in stray.items():
        for part, cls in NESTED.items():
            if name in names_of(cls):
                given = f'{part}={{"{name}": {shown(value)}}}'
                raise UidsError(f"{name!r} is a key of {part!r}: give it as {given}")


def names_of(cls: type) -> set[str]:
    return {field.name for field in dataclasses.fields(cls)}


def make_settings(**keys: Any) -> Settings:
    """Settings from plain values; an unknown key or a value out of range is a UidsError."""
    for cls, given in ((Settings, keys), *((NESTED[name], keys.get(name)) for name in NESTED)):
        known = names_of(cls)
        strange = set(given) - known if isinstance(given, dict) else set()
        if strange:
            raise UidsError(unknown("key:", strange.pop(), known))
    try:
        for name, part in NESTED.items():
            if isinstance(keys.get(name), dict):
                check_types(part, keys[name])
                keys[name] = part(**keys[name])
            require(isinstance(keys.get(name, part()), part), name, "a dict", keys.get(name))
        check_types(Settings, keys)
        return Settings(**keys)
    except (TypeError, ValueError) as error:
        raise UidsError(one_line(error)) from error
