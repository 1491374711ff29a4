"""The points of a sweep: the name of each, why one cannot run, and whether it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hydra.core.config_loader import ConfigLoader
from omegaconf import DictConfig

from uids.app.build import build_plain
from uids.app.explain import explain
from uids.app.stopping import raise_if_stopped
from uids.app.sweep.family import Families, Family, Values
from uids.app.sweep.grid import Grid, expand
from uids.pipeline.identity import run_name
from uids.pipeline.metrics import FailedRun, Metrics, NoRun
from uids.system.progress import Steps


class State(Enum):
    """How far a point is, by the files in its folder."""

    OPEN = "no result is there, or none that is wanted"
    DONE = "its result is there, and would come out the same today"
    STALE = "its result is there, of other code or other data"


@dataclass(frozen=True)
class Point:
    """One point of a sweep. ``reason`` says why it cannot run, if it cannot; ``skipped`` why it is
    not meant to."""

    overrides: tuple[str, ...]
    run: str  # the name of its folder
    config: dict[str, Any] | None = None  # None where it could not be composed
    identity: str = ""  # what its result would be decided by today
    reason: str = ""
    skipped: str = ""
    unseen: str = ""  # why a change of its data would not make it stale, if it would not
    family: Family | None = None
    values: Values = field(default_factory=dict)  # its own in the family

    def state(self, metrics: Metrics | FailedRun | NoRun) -> State:
        wanted = self.config is not None and self.config.get("cache", True)
        if not wanted or metrics["status"] != "ok":
            return State.OPEN
        return State.DONE if metrics.get("identity") == self.identity else State.STALE


def plan(
    loader: ConfigLoader, config: DictConfig, arguments: Sequence[str], grids: Sequence[Grid] = ()
) -> list[Point]:
    """Every distinct point, in the order of the grids."""
    wanted = expand(loader, config, arguments, grids)
    steps = Steps("planning", len(wanted))
    families = Families(loader, config)
    points: dict[str, Point] = {}
    for count, overrides in enumerate(wanted):
        steps.done(count)
        point = compose(families, overrides)
        points[point.run] = point
    return list(points.values())


def compose(families: Families, overrides: tuple[str, ...]) -> Point:
    """The point with its run's name; a point that cannot be composed or built has a reason."""
    plain: dict[str, Any] | None = None
    try:
        family, values, plain = families.plain(overrides)
        built = build_plain(plain, family.declared, overrides)
        identity = built.identity()
    except Exception as error:
        raise_if_stopped()
        name = run_name({"overrides": list(overrides)} if plain is None else plain)
        return Point(overrides, name, plain, reason=explain(error))
    skipped = "" if built.settings.download else built.missing()
    unseen = built.components.dataset.unseen()
    name = run_name(plain)
    return Point(overrides, name, plain, identity, "", skipped, unseen, family, values)
