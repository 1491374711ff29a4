"""The Hydra application: what the words of a command line come to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from uids.app.compose import (
    PLAN,
    Arguments,
    composing,
    load_trusted,
    read_arguments,
    version_arguments,
)
from uids.app.conf_folder import conf_folder
from uids.app.explain import explain
from uids.app.hydra_source import register
from uids.app.origin import Origin
from uids.app.single import refuse_sweep
from uids.app.stopping import raise_if_stopped
from uids.app.terminal import say
from uids.errors import UidsError


def application(words: Sequence[str]) -> int:
    """A sweep and a plan go their own way; the rest is Hydra's. Returns the exit code."""
    arguments = read_arguments(words)
    register()
    if arguments.plan:
        return show_plan(arguments)
    if arguments.multirun and not (arguments.flags or arguments.other_sweeper):
        from uids.app.sweep.launch import sweep

        return sweep(arguments.overrides)
    if arguments.has_own_folder:
        check_own_folder(arguments)
        words = arguments.words()
    run_in_hydra(words)
    return 0


def check_own_folder(arguments: Arguments) -> None:
    """Before Hydra composes the config again by itself: no file may say what it may not, and no
    sweeper of Hydra's take axes or folders from a file."""
    if arguments.other_sweeper:
        raise UidsError(
            "a config folder cannot be combined with another sweeper: leave out hydra/sweeper"
        )
    with composing() as loader:
        mode = RunMode.MULTIRUN if arguments.multirun else RunMode.RUN
        config = load_trusted(loader, arguments.overrides, mode)
    if not arguments.shows and (arguments.multirun or config.hydra.mode == RunMode.MULTIRUN):
        raise UidsError(
            "a sweep with a config folder takes -m, and neither hydra.mode nor "
            f"{' nor '.join(arguments.flags) or 'another sweeper'}: leave those out"
        )


def run_in_hydra(words: Sequence[str]) -> None:
    """Hydra's own way: composing, making the folder, running the job, and its flags."""
    failure: list[Exception] = []
    origin = Origin.here()

    def task(config: DictConfig) -> None:
        from uids.app.job import job  # when there is a config to run: it imports all of the work

        origin.follow()
        # Kept from Hydra, which would print its own words about it first.
        try:
            job(config)
        except Exception as error:
            raise_if_stopped()
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
        raise UidsError(
            f"{PLAN} cannot be combined with {arguments.flags[0]}: leave out one of them"
        )
    with composing() as loader:
        try:
            config = load_trusted(loader, arguments.overrides, RunMode.RUN)
            refuse_sweep(config, config.hydra)
        except (HydraException, UidsError) as error:
            if explain(error).endswith("is a sweep: add -m"):
                raise UidsError(f"{PLAN} is for a single run, and this is a sweep") from error
            raise
        from uids.app.build import build

        task = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
        built = build(task, [str(word) for word in config.hydra.overrides.task])
        from uids.pipeline.plan import plan

        say(plan(built.components, built.settings))
    return 0
