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
import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from uids.config_source import register
from uids.describe import Components
from uids.errors import UidsError, unknown
from uids.pipeline import execute, make_settings
from uids.registry import REGISTRIES
from uids.settings import Settings

log = logging.getLogger("uids")
FLAGS = (  # Hydra's, in both forms
    *("--help", "-h", "--hydra-help", "--version", "--cfg", "-c", "--resolve", "--package", "-p"),
    *("--run", "-r", "--multirun", "-m", "--shell-completion", "-sc", "--info", "-i"),
    *("--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd"),
)


def conf_folder() -> Path:
    """``conf`` inside the installed package, or at the top of the checkout."""
    package = Path(__file__).resolve().parent
    return next(folder for folder in (package / "conf", package.parent / "conf") if folder.is_dir())


def version_arguments(function: Any) -> dict[str, Any]:
    """Hydra 1.3 wants ``version_base``; 1.4 deprecates it, and can be closed to foreign code."""
    if "execution_whitelist" in inspect.signature(hydra.main).parameters:
        whitelisted = "execution_whitelist" in inspect.signature(function).parameters
        return {"execution_whitelist": ("uids.*",)} if whitelisted else {}
    return {"version_base": "1.3"}


def application(arguments: Sequence[str]) -> int:
    """Hand the command line to Hydra; a sweep goes its own way, see ``uids/sweep.py``."""
    for argument in arguments:
        flag = argument.partition("=")[0]
        if flag == "--experimental-rerun":
            raise UidsError(f"{flag} reads a pickle, which could run code: not supported")
        if flag.startswith("-") and flag not in FLAGS:
            raise UidsError(unknown("option", flag, FLAGS))
    for folder in config_folders(arguments):
        refuse_code(folder)
    register()
    points = sweep_arguments(arguments)
    if points is not None:
        from uids.sweep import sweep

        return sweep(*points)
    failure: list[Exception] = []

    def task(cfg: DictConfig) -> None:
        # Kept from Hydra, which would print its own words about it first.
        try:
            job(cfg)
        except Exception as error:
            failure.append(error)

    decorated = hydra.main(
        config_path=str(conf_folder()), config_name="config", **version_arguments(hydra.main)
    )(task)
    with command_line(arguments):
        decorated()
    if failure:
        raise failure[0]
    return 0


def sweep_arguments(arguments: Sequence[str]) -> tuple[list[str], str | None] | None:
    """(overrides, --config-dir) of a sweep; None for anything that is for Hydra alone."""
    rest, folder, multirun = [], None, False
    words = iter(arguments)
    for word in words:
        flag, equals, value = word.partition("=")
        if word in ("-m", "--multirun"):
            multirun = True
        elif flag in ("--config-dir", "-cd"):
            folder = value if equals else next(words, "")
        elif word.startswith("-") or word.startswith("hydra/sweeper="):
            return None
        else:
            rest.append(word)
    return (rest, folder) if multirun else None


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
    from uids.report.progress import progress_bar
    from uids.report.run import write_failure, write_run
    from uids.report.table import run_line, run_table

    told = HydraConfig.get()
    folder = Path(told.runtime.output_dir)
    single = told.mode == RunMode.RUN
    overrides = [str(override) for override in told.overrides.task]
    try:
        parts, settings = build(cfg)
        with progress_bar() as progress:
            result = execute(parts, settings, progress)
        write_run(folder, result, command(overrides, told.runtime.config_sources))
    except Exception as error:
        from uids.cli import explained

        reason = explained(error)
        plain = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=False)
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


def config_folders(arguments: Sequence[str]) -> Iterator[Path]:
    """The values of --config-dir and --config-path, in each way of writing them."""
    for position, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        if flag in ("--config-dir", "-cd", "--config-path", "-cp"):
            if not equals:
                value = arguments[position + 1] if position + 1 < len(arguments) else ""
            folder = Path(value)
            if not folder.is_dir():
                raise UidsError(f"{flag}: there is no folder {value!r}")
            yield folder


def refuse_code(folder: Path) -> None:
    """A config may come from a stranger. Hydra would call what ``_target_`` names (for launchers,
    callbacks, …), and Python's logging what ``()`` names: neither has a place in a user's file."""

    def keys(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            yield from (str(key) for key in node)
            node = list(node.values())
        if isinstance(node, list):
            for child in node:
                yield from keys(child)

    for file in sorted(folder.rglob("*.y*ml")):
        try:
            found = {"_target_", "()"} & set(keys(yaml.safe_load(file.read_text("utf-8"))))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UidsError(f"{file} is not YAML: {' '.join(str(error).split())}") from error
        if found:
            raise UidsError(
                f"{file} has the key {found.pop()!r}, by which a config could run code; remove it"
            )
