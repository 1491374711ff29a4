"""The Hydra application: one run, or the points of a sweep."""

from __future__ import annotations

import inspect
import logging
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hydra
from hydra import initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from uids.app.source import register
from uids.app.trust import check_trusted
from uids.errors import UidsError, unknown
from uids.pipeline.describe import Components
from uids.pipeline.run import execute, make_settings
from uids.pipeline.settings import Settings
from uids.registry import REGISTRIES

log = logging.getLogger("uids")
FLAGS = (  # Hydra's, in both forms
    *("--help", "-h", "--hydra-help", "--version", "--cfg", "-c", "--resolve", "--package", "-p"),
    *("--run", "-r", "--multirun", "-m", "--shell-completion", "-sc", "--info", "-i"),
    *("--config-dir", "-cd"),  # but no other primary config: it could say anything
)


def conf_folder() -> Path:
    """``conf`` inside the installed package, or at the top of the checkout."""
    package = Path(__file__).resolve().parent.parent
    return next(folder for folder in (package / "conf", package.parent / "conf") if folder.is_dir())


def version_arguments(function: Any) -> dict[str, Any]:
    """Hydra 1.3 wants ``version_base``; 1.4 deprecates it, and can be closed to foreign code."""
    if "execution_whitelist" in inspect.signature(hydra.main).parameters:
        whitelisted = "execution_whitelist" in inspect.signature(function).parameters
        return {"execution_whitelist": ("uids.*",)} if whitelisted else {}
    return {"version_base": "1.3"}


def application(arguments: Sequence[str]) -> int:
    """Hand the command line to Hydra; a sweep goes its own way, see ``uids/app/sweep.py``."""
    for argument in arguments:
        flag = argument.partition("=")[0]
        if flag == "--experimental-rerun":
            raise UidsError(f"{flag} reads a pickle, which could run code: not supported")
        if flag.startswith("-") and flag not in FLAGS:
            raise UidsError(unknown("option", flag, FLAGS))
    register()
    words, config_dir, multirun, other = read_arguments(arguments)
    if config_dir is not None and not Path(config_dir).is_dir():
        raise UidsError(f"--config-dir: there is no folder {config_dir!r}")
    if multirun and not other:
        from uids.app.sweep import sweep

        return sweep(words, config_dir)
    if has_own_folder(words, config_dir):
        if any(word.startswith("hydra/sweeper=") for word in words):
            raise UidsError(
                "a config folder does not go with another sweeper: leave out hydra/sweeper"
            )
        with composing() as loader:
            mode = RunMode.MULTIRUN if multirun else RunMode.RUN
            load_trusted(loader, words, config_dir, mode)
    failure: list[Exception] = []

    def task(cfg: DictConfig) -> None:
        # Kept from Hydra, which would print its own words about it first.
        try:
            job(cfg)
        except Exception as error:
            if HydraConfig.get().mode == RunMode.MULTIRUN:
                raise  # another sweeper's job, perhaps in another process
            failure.append(error)

    decorated = hydra.main(
        config_path=str(conf_folder()), config_name="config", **version_arguments(hydra.main)
    )(task)
    with command_line(arguments):
        decorated()
    if failure:
        raise failure[0]
    return 0


def read_arguments(arguments: Sequence[str]) -> tuple[list[str], str | None, bool, bool]:
    """(overrides, --config-dir, whether -m, whether there is anything else for Hydra alone)."""
    overrides: list[str] = []
    folder, multirun, other = None, False, False
    words = iter(arguments)
    for word in words:
        flag, equals, value = word.partition("=")
        if word in ("-m", "--multirun"):
            multirun = True
        elif flag in ("--config-dir", "-cd"):
            if folder is not None:
                raise UidsError(f"{flag} was given twice: one folder is searched")
            folder = value if equals else next(words, "")
        else:
            other |= word.startswith("-") or word.startswith("hydra/sweeper=")
            if not word.startswith("-"):
                overrides.append(word)
    return overrides, folder, multirun, other


@contextmanager
def composing() -> Iterator[ConfigLoader]:
    """Hydra's own composition of configs, without running anything."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(
        config_dir=str(conf_folder()), job_name="uids", **version_arguments(initialize_config_dir)
    ):
        yield GlobalHydra.instance().config_loader()


def has_own_folder(overrides: Sequence[str], config_dir: str | None) -> bool:
    return config_dir is not None or any("hydra.searchpath" in word for word in overrides)


def load_trusted(
    loader: ConfigLoader, overrides: Sequence[str], config_dir: str | None, mode: RunMode
) -> DictConfig:
    """The config of a command, checked against what it would be without a folder of one's own."""
    own = [] if config_dir is None else [f"hydra.searchpath=[file://{Path(config_dir).resolve()}]"]
    config = loader.load_configuration("config", [*own, *overrides], run_mode=mode)
    if not has_own_folder(overrides, config_dir):
        return config
    typed = [word for word in overrides if word.lstrip("+~").startswith("hydra")]
    typed = [word for word in typed if "searchpath" not in word]
    check_trusted(config, loader.load_configuration("config", typed, run_mode=mode))
    return config


@contextmanager
def command_line(arguments: Sequence[str]) -> Iterator[None]:
    """Hydra reads sys.argv, and prints its own long form of an error unless told to raise it."""
    before = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    sys.argv = [sys.argv[0], *arguments]
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        yield
    finally:
        sys.argv = before[0]
        os.environ.pop("HYDRA_FULL_ERROR")
        if before[1] is not None:
            os.environ["HYDRA_FULL_ERROR"] = before[1]


def job(cfg: DictConfig) -> None:
    """One run, from its config to its files. In a sweep this may be in another process."""
    from uids.app.progress import progress_bar
    from uids.report.run import write_failure, write_run
    from uids.report.table import run_line, run_table

    told = HydraConfig.get()
    folder = Path(told.runtime.output_dir)
    single = told.mode == RunMode.RUN
    overrides = [str(override) for override in told.overrides.task]
    try:
        if single and (cfg.sweep.grids or told.sweeper.get("params")):
            experiment = told.runtime.choices.get("experiment")
            raise UidsError(f"experiment={experiment} is a sweep: add -m")
        parts, settings = build(cfg)
        with progress_bar() as progress:
            result = execute(parts, settings, progress)
        write_run(folder, result, command(overrides, told.runtime.config_sources))
    except Exception as error:
        from uids.app.cli import explained

        reason = explained(error)
        plain = OmegaConf.to_container(cfg, resolve=False, throw_on_missing=False)
        write_failure(folder, plain, reason)
        log.debug("the run failed", exc_info=True)
        if not single:
            print(f"failed: {' '.join(overrides)}: {reason}", file=sys.stderr, flush=True)
        raise
    if single:
        print(run_table(result.metrics, folder))
    else:
        print(run_line(result.metrics, overrides), flush=True)


def build(cfg: DictConfig) -> tuple[Components, Settings]:
    """Every component and the settings, all ranges checked, before any work starts."""
    plain: Any = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)
    plain.pop("sweep", None)
    components = {}
    for kind, registry in REGISTRIES.items():
        fields = plain.pop(kind)
        if not isinstance(fields, dict) or "name" not in fields:
            raise UidsError(
                f"the config of {kind!r} names no component: choose one with {kind}=NAME; a preset "
                "begins with its defaults, [NAME, _self_]"
            )
        chosen = registry.entry(fields["name"]).name
        node_type = OmegaConf.get_type(cfg[kind])
        if getattr(node_type, "name", chosen) != chosen:
            raise UidsError(f"choose a {kind} with {kind}={chosen}, not with {kind}.name")
        components[kind] = registry.build(**fields)
    return Components(**components), make_settings(**plain)


def command(overrides: Sequence[str], sources: Sequence[Any]) -> str:
    """What to type to do this run again."""
    own = ("command-line", "hydra.searchpath in command-line")
    folders = [source.path for source in sources if source.provider in own]
    flags = [word for folder in folders for word in ("--config-dir", folder)]
    return shlex.join(["uids", *flags, *overrides])
