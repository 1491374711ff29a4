"""The points of a sweep in batches: one job of Hydra's launcher each, in which the points follow
each other, and data and fit stay in memory from one to the next."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any, cast

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.core.utils import configure_log
from omegaconf import DictConfig, OmegaConf, open_dict

from uids.app.build import build_plain, reporter_of
from uids.app.job import command_of, failure_on_record, run_into
from uids.app.origin import Origin
from uids.app.reporting import told
from uids.app.sweep.family import Family, Values, set_value
from uids.app.sweep.points import Point
from uids.app.terminal import say
from uids.pipeline.kept import DATA_KEYS, FIT_KEYS, Kept
from uids.report.table import run_line
from uids.system.files import write_text

SET_BY_POINTS = ("overrides", "job", "sweep", "runtime")  # of the node hydra
ROUNDS = 4  # batches for each worker, so that one with quick points takes more of them


@dataclass(frozen=True)
class Todo:
    """A point as its job needs it."""

    number: int
    run: str
    overrides: tuple[str, ...]
    config: dict[str, Any]
    family: Family
    values: Values


def in_order(points: Sequence[Point]) -> list[Todo]:
    """Those of one data set together, and within these those of one fit."""
    places: tuple[dict[str, int], ...] = ({}, {})

    def place(point: Point) -> tuple[int, ...]:
        config = point.config or {}
        found = []
        for known, keys in zip(places, (DATA_KEYS, FIT_KEYS), strict=True):
            text = json.dumps([config.get(key) for key in keys], sort_keys=True, default=str)
            found.append(known.setdefault(text, len(known)))
        return tuple(found)

    return [
        Todo(number, point.run, point.overrides, point.config, point.family, point.values)
        for number, point in enumerate(sorted(points, key=place))
        if point.config is not None and point.family is not None
    ]


def batches(todo: Sequence[Todo], config: DictConfig) -> list[list[Todo]]:
    """Of the sweep's own process one; of joblib's workers, and of the jobs that Slurm may run at a
    time, some for each. Submitit's local mode starts all of its jobs at once: one for each core.
    Other launchers may have a machine for each point, and get them one by one."""
    launcher = config.hydra.runtime.choices.get("hydra/launcher")
    cores, size = os.cpu_count() or 1, 1
    if launcher == "basic":
        size = len(todo)
    elif launcher == "joblib":
        workers = int(config.hydra.launcher.n_jobs)
        workers = workers if workers > 0 else max(1, cores + 1 + workers)
        size = -(-len(todo) // (ROUNDS * workers))
    elif launcher == "submitit_slurm":
        size = -(-len(todo) // (ROUNDS * int(config.hydra.launcher.array_parallelism)))
    elif launcher == "submitit_local":
        size = -(-len(todo) // cores)
    return [list(todo[first : first + size]) for first in range(0, len(todo), max(size, 1))]


def batch_words(batch: Sequence[Todo], folder: str) -> list[str]:
    """The overrides of a batch's job: its first point's, and what the points do for themselves."""
    return [
        *batch[0].overrides,
        *folder_words(folder, batch[0].run),
        "hydra.output_subdir=null",
        "hydra.job.chdir=false",
    ]


def folder_words(folder: str, run: str) -> list[str]:
    """The folder of a point is in that of the sweep, whatever a swept experiment says."""
    quoted = QuotedString(folder, Quote.double).with_quotes()
    return [f"hydra.sweep.dir={quoted}", f"hydra.sweep.subdir='{run}'"]


def run_batch(origin: Origin, work: Mapping[str, list[Todo]], config: DictConfig) -> None:
    """The job that Hydra's launcher starts. What fails stands in the folder of its point."""
    origin.follow()
    kept = Kept()
    about = HydraConfig.get()
    folder, batch = str(about.sweep.dir), work[str(about.sweep.subdir)]
    before = HydraConfig.instance().cfg
    roots: dict[int, Root] = {}
    try:
        for todo in batch:
            if id(todo.family) not in roots:
                roots[id(todo.family)] = Root(todo.family)
            with suppress(Exception):  # it is on record
                run_point(todo, roots[id(todo.family)], Path(folder), kept)
    finally:
        HydraConfig.instance().cfg = before


class Root:
    """The config of a family as Hydra's jobs have it, for its points one after the other."""

    def __init__(self, family: Family) -> None:
        self.whole = family.composed
        self.task = OmegaConf.masked_copy(self.whole, [str(k) for k in self.whole if k != "hydra"])
        self.hydra_words = family.hydra_words
        self.texts = Text(self.task), Text(self.whole.hydra)
        self.changed: set[str] = set()  # of the task, at its top

    def of(self, todo: Todo, folder: Path) -> DictConfig:
        """What Hydra would have composed of the point's overrides, and have its job know."""
        for key, value in todo.values.items():
            set_value(self.whole, self.task, key, value)
            self.changed.add(key.partition(".")[0])
        hydra = self.whole.hydra
        OmegaConf.set_readonly(hydra, False)
        with open_dict(hydra):
            hydra.overrides.task = list(todo.overrides)
            hydra.overrides.hydra = [*self.hydra_words, *folder_words(str(folder), todo.run)]
            hydra.job.override_dirname = override_dirname(todo.overrides, hydra)
            hydra.job.id = hydra.job.num = todo.number
            hydra.sweep.dir, hydra.sweep.subdir = str(folder), todo.run
            hydra.runtime.output_dir = str(folder / todo.run)
        return self.whole

    def write(self, folder: Path) -> None:
        """The files that Hydra writes for a job: its config as composed."""
        hydra = self.whole.hydra
        if hydra.output_subdir is None:
            return
        task, about = self.texts
        written = {
            "config": task.now(self.changed),
            "hydra": f"hydra:\n{indent(about.now(SET_BY_POINTS), '  ')}",
            "overrides": OmegaConf.to_yaml(hydra.overrides.task),
        }
        for name, text in written.items():
            write_text(folder / str(hydra.output_subdir) / f"{name}.yaml", text)


class Text:
    """``OmegaConf.to_yaml`` of a config for point after point: what does not change is kept."""

    def __init__(self, config: DictConfig) -> None:
        self.config = config
        self.kept: dict[str, str] = {}

    def now(self, changed: Container[str]) -> str:
        for key in map(str, self.config):
            if key in changed or key not in self.kept:
                self.kept[key] = OmegaConf.to_yaml(OmegaConf.masked_copy(self.config, [key]))
        return "".join(self.kept[str(key)] for key in self.config)


def override_dirname(overrides: Sequence[str], hydra: DictConfig) -> str:
    """Hydra's ``hydra.job.override_dirname``."""
    how = hydra.job.config.override_dirname
    left_out = [str(key) for key in how.exclude_keys]
    words = [word for word in overrides if word.partition("=")[0].lstrip("+~") not in left_out]
    return str(how.item_sep).join(sorted(words)).replace("=", how.kv_sep)


def run_point(todo: Todo, root: Root, sweep: Path, kept: Kept) -> None:
    """As Hydra runs a job: its folder, its log, its own files; then the run."""
    folder, here = sweep / todo.run, os.getcwd()
    with told(folder) as tell:
        with failure_on_record(folder, todo.config, " ".join(todo.overrides)):
            config = root.of(todo, sweep)
            tell(reporter_of(config))
            HydraConfig.instance().cfg = cast(Any, config)  # for references as ${hydra:job.num}
            folder.mkdir(parents=True, exist_ok=True)
            configure_log(config.hydra.job_logging, config.hydra.verbose)
            root.write(folder)
            built = build_plain(todo.config, todo.family.declared, todo.overrides)
            page, reasons = built.has_page(single=False), bool(config.sweep.reasons)
            words = command_of(config.hydra)
            try:
                if config.hydra.job.chdir:
                    os.chdir(folder)
                result = run_into(folder, built, words, reasons, page, kept)
            finally:
                os.chdir(here)
        say(run_line(result.metrics, list(todo.overrides)))
