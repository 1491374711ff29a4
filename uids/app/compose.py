"""Hydra's composition of configs from the command line, conf/ and a person's own folder."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hydra
from hydra import initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import DictConfig

from uids.app.trust import check_trusted
from uids.errors import UidsError, unknown

PLAN = "--plan"  # uids' own: what the run would do, without running it
FLAGS = (
    PLAN,
    # Hydra's, in both forms
    *("--help", "-h", "--hydra-help", "--version", "--cfg", "-c", "--resolve", "--package", "-p"),
    *("--run", "-r", "--multirun", "-m", "--shell-completion", "-sc", "--info", "-i"),
    *("--config-dir", "-cd"),  # but no other primary config: it could say anything
)


@dataclass(frozen=True)
class Arguments:
    """A command line, read."""

    overrides: list[str]
    config_dir: str | None  # a folder of the person's own
    multirun: bool
    plan: bool
    flags: list[str]  # for Hydra alone
    other_sweeper: bool  # one of Hydra's is to do the sweep

    @property
    def has_own_folder(self) -> bool:
        return has_own_folder(self.overrides, self.config_dir)


def read_arguments(words: Sequence[str]) -> Arguments:
    """Refuses what is not known, or could run code."""
    for word in words:
        flag = word.partition("=")[0]
        if flag == "--experimental-rerun":
            raise UidsError(f"{flag} reads a pickle, which could run code: not supported")
        if flag.startswith("-") and flag not in FLAGS:
            raise UidsError(unknown("option", flag, FLAGS))
    overrides: list[str] = []
    flags: list[str] = []
    folder, multirun, plan = None, False, False
    rest = iter(words)
    for word in rest:
        flag, equals, value = word.partition("=")
        if word in ("-m", "--multirun"):
            multirun = True
        elif word == PLAN:
            plan = True
        elif flag in ("--config-dir", "-cd"):
            if folder is not None:
                raise UidsError(f"{flag} was given twice: only one folder can be searched")
            folder = value if equals else next(rest, "")
        else:
            (flags if word.startswith("-") else overrides).append(word)
    if folder is not None and not Path(folder).is_dir():
        raise UidsError(f"--config-dir: there is no folder {folder!r}")
    other_sweeper = any(word.startswith("hydra/sweeper=") for word in overrides)
    return Arguments(overrides, folder, multirun, plan, flags, other_sweeper)


def conf_folder() -> Path:
    """``conf`` inside the installed package, or at the top of the checkout."""
    package = Path(__file__).resolve().parent.parent
    return next(folder for folder in (package / "conf", package.parent / "conf") if folder.is_dir())


def version_arguments(function: Callable[..., object]) -> dict[str, Any]:
    """Hydra 1.3 wants ``version_base``; 1.4 deprecates it, and can be closed to foreign code."""
    if "execution_whitelist" in inspect.signature(hydra.main).parameters:
        whitelisted = "execution_whitelist" in inspect.signature(function).parameters
        return {"execution_whitelist": ("uids.*",)} if whitelisted else {}
    return {"version_base": "1.3"}


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
    search = []
    if config_dir is not None:
        search = [f"hydra.searchpath=[file://{Path(config_dir).resolve()}]"]
    config = loader.load_configuration("config", [*search, *overrides], run_mode=mode)
    if not has_own_folder(overrides, config_dir):
        return config
    typed = [word for word in overrides if word.lstrip("+~").startswith("hydra")]
    typed = [word for word in typed if "searchpath" not in word]
    check_trusted(config, loader.load_configuration("config", typed, run_mode=mode))
    return config
