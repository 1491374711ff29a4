"""The grids of a sweep: their axes, and the product of these as lists of overrides."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig

from uids.app.stopping import raise_if_stopped
from uids.errors import UidsError
from uids.registry import REGISTRIES

MAX_POINTS = 100_000  # of one grid: weeks of work, and as much as can be planned in memory

Grid = Mapping[str, Any]  # key ↦ its values, as on the command line: "sampler.alpha" ↦ "1,5"


def expand(
    loader: ConfigLoader, config: DictConfig, arguments: Sequence[str], grids: Sequence[Grid]
) -> list[tuple[str, ...]]:
    """The overrides of every distinct point, in the order of the grids."""
    shared = config.hydra.sweeper.get("params") or {}
    typed = axes_of(loader, arguments)
    distinct: dict[tuple[str, ...], None] = {}
    for grid in [narrowed(grid, typed) for grid in grids] or [{}]:
        if grid is None:
            continue
        axes = {**shared, **grid}.items()
        words = [f"{key}={'null' if value is None else value}" for key, value in axes]
        words += [word for word in arguments if word.partition("=")[0] not in fixed(grid)]
        distinct |= dict.fromkeys(product(loader, config, words))
    if not distinct:
        groups = [word for word in arguments if word.partition("=")[0] in REGISTRIES]
        raise UidsError(
            f"none of the grids of this experiment has {' and '.join(groups)}: leave out what "
            "they do not have"
        )
    return list(distinct)


def fixed(grid: Grid) -> set[str]:
    """The groups of components of which a grid has its own choice."""
    return set(grid) & set(REGISTRIES)


def narrowed(grid: Grid, typed: Mapping[str, list[str]]) -> Grid | None:
    """The grid with only those of its components that are also on the command line; None where it
    has none of them. Were they put in its place, the values that belong to one data set or one
    sampler would go to another."""
    narrow = dict(grid)
    for group in fixed(grid) & set(typed):
        names = [name for name in str(grid[group]).split(",") if f"{group}={name}" in typed[group]]
        if not names:
            return None
        narrow[group] = ",".join(names)
    return narrow


def axes_of(loader: ConfigLoader, words: Sequence[str]) -> dict[str, list[str]]:
    """For each key its values, each as an override. A later word for the same key replaces an
    earlier one, as in Hydra. Words for Hydra itself cannot be swept, and are in every point
    through the config."""
    overrides = OverridesParser.create(config_loader=loader).parse_overrides(list(words))
    return {o.get_key_element(): choices(o) for o in overrides if not o.is_hydra_override()}


def choices(override: Override) -> list[str]:
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [f"{key}={override.get_value_element_as_str()}"]
    if not override.is_discrete_sweep():
        raise UidsError(f"{override.input_line}: a sweep takes values, as in {key}=1,2,5")
    values = itertools.islice(override.sweep_string_iterator(), MAX_POINTS + 1)
    return [f"{key}={value}" for value in values]


def product(
    loader: ConfigLoader, config: DictConfig, words: Sequence[str]
) -> list[tuple[str, ...]]:
    """The product of the axes, each point without the fields that its components lack."""
    axes = axes_of(loader, words)
    if math.prod(len(axis) for axis in axes.values()) > MAX_POINTS:
        wide = ", ".join(key for key, axis in axes.items() if len(axis) > 1)
        raise UidsError(f"a sweep of more than {MAX_POINTS:,} points: take fewer values of {wide}")
    swept = {key for key, axis in axes.items() if key in REGISTRIES and len(axis) > 1}
    fields = component_fields(loader, config, swept, axes)
    return [tuple(applicable(list(point), fields)) for point in itertools.product(*axes.values())]


def component_fields(
    loader: ConfigLoader, config: DictConfig, swept: set[str], axes: Mapping[str, list[str]]
) -> dict[str, set[str]]:
    """For each choice of a swept group, as in "sampler=random", the fields that it has."""
    fields: dict[str, set[str]] = {}
    for group in swept:
        for choice in axes[group]:
            name = choice.partition("=")[2]
            try:
                if name in REGISTRIES[group].names():
                    declared = dataclasses.fields(REGISTRIES[group].load(name))
                    fields[choice] = {field.name for field in declared}
                else:  # a preset: a file that extends a component
                    node = loader.load_sweep_config(config, [choice])[group]
                    fields[choice] = {str(key) for key in node}
            except Exception:
                raise_if_stopped()
                fields[choice] = set()  # composing the point itself will say what is wrong
    return fields


def applicable(point: list[str], fields: Mapping[str, set[str]]) -> list[str]:
    """The point without the fields that its components lack, if another choice has them."""
    kept = []
    for word in point:
        group, _, field = word.partition("=")[0].partition(".")
        field = field.partition(".")[0]
        choice = next((other for other in point if other.startswith(f"{group}=")), "")
        rivals = [known for other, known in fields.items() if other.startswith(f"{group}=")]
        lacks = choice in fields and field not in fields[choice]
        if not (field and lacks and any(field in known for known in rivals)):
            kept.append(word)
    return kept
