"""Sweeps: the points of a grid, each in a folder named by what decides its result.

Hydra's own sweeper refuses a grid in which one point cannot be composed, and knows nothing of
results that are there already. Here

- ``sampler=sigmoid,random sampler.alpha=1,5`` is three points: α is swept where there is an α;
- an experiment may be several grids (``sweep.grids``), where one product of axes would not do;
- a point that is wrong or fails does not stop the others, and stands in the table with its reason;
- a point whose result is there is not done again, so a sweep can be killed, continued, enlarged.

Composing configs and launching jobs remain Hydra's.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.types import HydraContext, RunMode
from omegaconf import DictConfig, OmegaConf
from tqdm import tqdm

from uids import __version__
from uids.app.explain import explain
from uids.app.job import build, composing, job, load_trusted
from uids.app.trust import check_trusted
from uids.errors import UidsError
from uids.pipeline.fit_cache import source_digest
from uids.pipeline.run import missing
from uids.pipeline.settings import SweepSettings
from uids.registry import REGISTRIES
from uids.report.plan import write_plan
from uids.report.run import read_metrics, write_failure
from uids.report.summary import write_summary


@dataclass(frozen=True)
class Point:
    """One point of a sweep. ``reason`` says why it cannot run, if it cannot; ``skipped`` why it is
    not meant to."""

    overrides: tuple[str, ...]
    run: str
    config: Any = None
    reason: str = ""
    skipped: str = ""


class NoCallbacks:
    """The hooks that a launcher calls around a job; a sweep of uids needs none."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # or pickling would find hooks that are none
        return do_nothing


def do_nothing(*_: Any, **__: Any) -> None:
    return None


def sweep(arguments: list[str], config_dir: str | None = None) -> int:
    """Plan, tell, launch what is missing, and write the table. Returns the exit code."""
    with composing() as loader:
        config = load_trusted(loader, arguments, config_dir, RunMode.MULTIRUN)
        folder = Path(config.hydra.sweep.dir)
        shape = sweep_settings(config)
        points = plan(loader, config, arguments, shape.grids)
        if all(point.reason or point.skipped for point in points):
            raise UidsError(next((p.reason for p in points if p.reason), points[0].skipped))
        folder.mkdir(parents=True, exist_ok=True)
        write_plan(folder, [vars(point) for point in points], shape.report)
        wanted = [point for point in points if not point.skipped]
        todo = [point for point in wanted if not is_done(folder, point)]
        tell(points, wanted, todo, folder)
        for point in todo:
            if point.reason:
                words = " ".join(point.overrides)
                write_failure(folder / point.run, point.config, point.reason)
                print(f"failed: {words}: {point.reason}", file=sys.stderr, flush=True)
        try:
            launch(loader, config, [point for point in todo if not point.reason])
        except KeyboardInterrupt:
            print(write_summary(folder))
            raise
    print(write_summary(folder))
    failed = any(read_metrics(folder / point.run).get("status") != "ok" for point in wanted)
    return int(failed)


def sweep_settings(config: DictConfig) -> SweepSettings:
    try:
        return SweepSettings(**OmegaConf.to_container(config.sweep, resolve=True))  # type: ignore[arg-type]
    except ValueError as error:
        raise UidsError(str(error)) from error


def launch(loader: ConfigLoader, config: DictConfig, points: Sequence[Point]) -> None:
    if not points:
        return
    launcher = Plugins.instance().instantiate_launcher(
        hydra_context=HydraContext(config_loader=loader, callbacks=NoCallbacks()),  # type: ignore[arg-type]
        task_function=job,
        config=config,
    )
    # What a job returns, or raises, stands in its folder already.
    launcher.launch(
        [[*point.overrides, f"hydra.sweep.subdir='{point.run}'"] for point in points],
        initial_job_idx=0,
    )


def tell(
    points: Sequence[Point], wanted: Sequence[Point], todo: Sequence[Point], folder: Path
) -> None:
    done = len(wanted) - len(todo)
    there = f", {done} of them done already" if done else ""
    count = f"{len(wanted)} point{'s' if len(wanted) != 1 else ''}"
    print(f"{count}{there}, in {folder}", flush=True)
    for reason in dict.fromkeys(point.skipped for point in points if point.skipped):
        print(f"skipped: {reason}", flush=True)


def is_done(folder: Path, point: Point) -> bool:
    wanted = point.config is not None and point.config.get("cache", True)
    return wanted and read_metrics(folder / point.run).get("status") == "ok"


def plan(
    loader: ConfigLoader,
    config: DictConfig,
    arguments: Sequence[str],
    grids: Sequence[dict[str, Any]] = (),
) -> list[Point]:
    """Every distinct point, in the order of the grids."""
    shared = config.hydra.sweeper.get("params") or {}
    parsed = OverridesParser.create(config_loader=loader).parse_overrides(list(arguments))
    typed = {o.get_key_element(): choices(o) for o in parsed if not o.is_hydra_override()}
    distinct: dict[tuple[str, ...], None] = {}
    for grid in [narrowed(grid, typed) for grid in grids] or [{}]:
        if grid is not None:
            axes = {**shared, **grid}.items()
            words = [f"{key}={'null' if value is None else value}" for key, value in axes]
            words += [word for word in arguments if word.partition("=")[0] not in fixed(grid)]
            distinct |= dict.fromkeys(expand(loader, config, words))
    if not distinct:
        groups = [word for word in arguments if word.partition("=")[0] in REGISTRIES]
        raise UidsError(
            f"none of the grids of this experiment has {' and '.join(groups)}: leave out what "
            "they do not have"
        )
    told = tqdm(distinct, "planning", leave=False, disable=None, delay=2)
    composed = [compose(loader, config, list(overrides)) for overrides in told]
    return list({point.run: point for point in composed}.values())


def fixed(grid: dict[str, Any]) -> set[str]:
    """The groups of components of which a grid has its own choice."""
    return set(grid) & set(REGISTRIES)


def narrowed(grid: dict[str, Any], typed: dict[str, list[str]]) -> dict[str, Any] | None:
    """The grid with only those of its components that are also on the command line; None where it
    has none of them. Were they put in its place, the values that belong to one data set or one
    sampler would go to another."""
    found = dict(grid)
    for group in fixed(grid) & set(typed):
        kept = [name for name in str(grid[group]).split(",") if f"{group}={name}" in typed[group]]
        if not kept:
            return None
        found[group] = ",".join(kept)
    return found


def expand(loader: ConfigLoader, config: DictConfig, words: Sequence[str]) -> list[tuple[str, ...]]:
    """The product of the axes, each point without the fields that its components lack."""
    overrides = OverridesParser.create(config_loader=loader).parse_overrides(list(words))
    # Those of Hydra itself cannot be swept, and are in every point through the config.
    overrides = [override for override in overrides if not override.is_hydra_override()]
    # A later word for the same key replaces an earlier one, as in Hydra.
    axes = {override.get_key_element(): choices(override) for override in overrides}
    swept = {key for key, axis in axes.items() if key in REGISTRIES and len(axis) > 1}
    fields = component_fields(loader, config, swept, axes)
    return [tuple(applicable(list(each), fields)) for each in itertools.product(*axes.values())]


def choices(override: Override) -> list[str]:
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [f"{key}={override.get_value_element_as_str()}"]
    if not override.is_discrete_sweep():
        raise UidsError(f"{override.input_line}: a sweep takes values, as in {key}=1,2,5")
    return [f"{key}={value}" for value in override.sweep_string_iterator()]


def component_fields(
    loader: ConfigLoader, config: DictConfig, swept: set[str], axes: dict[str, list[str]]
) -> dict[str, set[str]]:
    """For each choice of a swept group, as in "sampler=random", the fields that it has."""
    fields: dict[str, set[str]] = {}
    for group in swept:
        for choice in axes[group]:
            name = choice.partition("=")[2]
            try:
                if name in REGISTRIES[group].names():
                    known = dataclasses.fields(REGISTRIES[group].load(name))
                    fields[choice] = {field.name for field in known}
                else:  # a preset: a file that extends a component
                    node = loader.load_sweep_config(config, [choice])[group]
                    fields[choice] = {str(key) for key in node}
            except Exception:
                fields[choice] = set()  # composing the point itself will say what is wrong
    return fields


def applicable(point: list[str], fields: dict[str, set[str]]) -> list[str]:
    """The point without the fields that its components lack, if another choice has them."""
    kept = []
    for word in point:
        group, _, name = word.partition("=")[0].partition(".")
        choice = next((other for other in point if other.startswith(f"{group}=")), "")
        rivals = [known for other, known in fields.items() if other.startswith(f"{group}=")]
        lacks = choice in fields and name.partition(".")[0] not in fields[choice]
        if name and lacks and any(name.partition(".")[0] in known for known in rivals):
            continue
        kept.append(word)
    return kept


def compose(loader: ConfigLoader, config: DictConfig, overrides: list[str]) -> Point:
    """The point with its run's name; a point that cannot be composed or built has a reason."""
    plain: Any = None
    try:
        composed = loader.load_sweep_config(config, overrides)
        check_trusted(composed, config)  # a swept experiment is a file too
        kept = [str(key) for key in composed if key not in ("hydra", "sweep")]
        own = OmegaConf.masked_copy(composed, kept)
        plain = OmegaConf.to_container(own, resolve=True, throw_on_missing=True)
        parts, settings = build(own)
        files = parts.dataset.fingerprint() if hasattr(parts.dataset, "fingerprint") else None
    except Exception as error:
        named = run_name(plain if plain is not None else {"overrides": overrides})
        return Point(tuple(overrides), named, plain, explain(error))
    skipped = "" if settings.download else missing(parts.dataset)
    return Point(tuple(overrides), run_name(plain, files), plain, skipped=skipped)


def run_name(plain: dict[str, Any], files: Any = None) -> str:
    """A hash of what decides the result: the config, the data files, and the versions of those who
    do the work."""
    idle = ("cache", "download")
    decides: dict[str, Any] = {key: value for key, value in plain.items() if key not in idle}
    versions = {"uids": __version__}
    for kind, registry in REGISTRIES.items():
        name = plain.get(kind, {}).get("name")
        versions.update(
            {
                entry.package: f"{entry.version} {source_digest(entry)}"
                for entry in registry.entries()
                if entry.name == name and entry.package != "uids"
            }
        )
    text = json.dumps([alike(decides), files, versions], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def alike(value: Any) -> Any:
    """1 as 1.0: a key that takes a number or a word, as ratio does, keeps them apart."""
    if isinstance(value, dict):
        return {key: alike(child) for key, child in value.items()}
    if isinstance(value, list):
        return [alike(child) for child in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
