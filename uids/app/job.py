"""The Hydra application: one run from its config to its files, or a sweep."""

from __future__ import annotations

import dataclasses
import logging
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import hydra
from hydra.conf import ConfigSourceInfo, HydraConf
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from uids.app.build import Built, build
from uids.app.compose import (
    PLAN,
    Arguments,
    composing,
    conf_folder,
    load_trusted,
    read_arguments,
    version_arguments,
)
from uids.app.explain import explain
from uids.app.progress import progress_bar
from uids.app.source import register
from uids.errors import UidsError
from uids.pipeline.run import Result, execute
from uids.system.progress import tell

log = logging.getLogger("uids")


def application(words: Sequence[str]) -> int:
    """A sweep and a plan go their own way; the rest is Hydra's. Returns the exit code."""
    arguments = read_arguments(words)
    register()
    if arguments.plan:
        return show_plan(arguments)
    if arguments.multirun and not (arguments.flags or arguments.other_sweeper):
        from uids.app.sweep.launch import sweep

        return sweep(arguments.overrides, arguments.config_dir)
    if arguments.has_own_folder:
        if arguments.other_sweeper:
            raise UidsError(
                "a config folder does not go with another sweeper: leave out hydra/sweeper"
            )
        with composing() as loader:
            mode = RunMode.MULTIRUN if arguments.multirun else RunMode.RUN
            load_trusted(loader, arguments.overrides, arguments.config_dir, mode)
    run_in_hydra(words)
    return 0


def run_in_hydra(words: Sequence[str]) -> None:
    """Hydra's own way: composing, making the folder, running the job, and its flags."""
    failure: list[Exception] = []

    def task(config: DictConfig) -> None:
        # Kept from Hydra, which would print its own words about it first.
        try:
            job(config)
        except Exception as error:
            if HydraConfig.get().mode == RunMode.MULTIRUN:
                raise  # another sweeper's job, perhaps in another process
            failure.append(error)

    decorated = hydra.main(
        config_path=str(conf_folder()), config_name="config", **version_arguments(hydra.main)
    )(task)
    with command_line(words):
        decorated()
    if failure:
        raise failure[0]


@contextmanager
def command_line(words: Sequence[str]) -> Iterator[None]:
    """Hydra reads sys.argv, and prints its own long form of an error unless told to raise it."""
    argv, full_error = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    sys.argv = [argv[0], *words]
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        yield
    finally:
        sys.argv = argv
        os.environ.pop("HYDRA_FULL_ERROR")
        if full_error is not None:
            os.environ["HYDRA_FULL_ERROR"] = full_error


def show_plan(arguments: Arguments) -> int:
    """Print what a run would do, without running it."""
    if arguments.multirun:
        raise UidsError(f"{PLAN} is for a single run: leave out -m")
    if arguments.flags:
        raise UidsError(f"{PLAN} does not go with {arguments.flags[0]}: leave out one of them")
    with composing() as loader:
        config = load_trusted(loader, arguments.overrides, arguments.config_dir, RunMode.RUN)
        refuse_sweep(config, config.hydra)
        task = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
        built = build(task)
        from uids.pipeline.plan import plan  # type: ignore[import-untyped]

        print(plan(built.components, built.settings))
    return 0


def job(config: DictConfig) -> None:
    """One run, from its config to its files. In a sweep this may be in another process."""
    from uids.report.run import write_failure, write_run
    from uids.report.table import run_line, run_table

    about = HydraConfig.get()
    folder = Path(about.runtime.output_dir)
    single = about.mode == RunMode.RUN
    overrides = [str(override) for override in about.overrides.task]
    try:
        if single:
            refuse_sweep(config, about)
        result = run(build(config))
        write_run(folder, result, command(overrides, about.runtime.config_sources))
    except Exception as error:
        reason = explain(error)
        plain = OmegaConf.to_container(config, resolve=False, throw_on_missing=False)
        write_failure(folder, plain, reason)
        log.debug("the run failed", exc_info=True)
        if not single:
            print(f"failed: {' '.join(overrides)}: {reason}", file=sys.stderr, flush=True)
        raise
    if single:
        print(run_table(result.metrics, folder))
    else:
        print(run_line(result.metrics, overrides), flush=True)


def refuse_sweep(config: DictConfig, about: HydraConf) -> None:
    """An experiment that has axes is no single run."""
    if config.sweep.grids or about.sweeper.get("params"):
        experiment = about.runtime.choices.get("experiment")
        raise UidsError(f"experiment={experiment} is a sweep: add -m")


def run(built: Built) -> Result:
    """The run, its metrics with its identity: that of the files as they were before they were read,
    or as they were downloaded."""
    identity = "" if built.missing() else built.identity()
    with progress_bar():
        result = execute(built.components, built.settings, tell)
    metrics = result.metrics.copy()
    metrics["identity"] = identity or built.identity()
    return dataclasses.replace(result, metrics=metrics)


def command(overrides: Sequence[str], sources: Sequence[ConfigSourceInfo]) -> str:
    """What to type to do this run again."""
    providers = ("command-line", "hydra.searchpath in command-line")
    folders = [source.path for source in sources if source.provider in providers]
    flags = [word for folder in folders for word in ("--config-dir", folder)]
    return shlex.join(["uids", *flags, *overrides])
