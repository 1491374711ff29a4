"""Hydra's composition of configs from the command line, conf/ and a person's own folder."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import hydra
from hydra import initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import DictConfig

from uids.app.conf_folder import conf_folder
from uids.app.door.folders import (
    SEARCH,
    check_output,
    refuse_shadows,
    search_path,
    search_word,
)
from uids.app.door.trust import check_trusted
from uids.app.own_file import hint
from uids.errors import UidsError, unknown
from uids.registry import GROUPS, REPORTERS

PLAN = "--plan"  # uids' own: what the run would do, without running it
ALLOW_ENV = "--allow-env"  # uids' own: files of a person's folder may read the environment
# Hydra's that only show something, and those that a value follows
SHOWING = (
    *("--help", "-h", "--hydra-help", "--version", "--cfg", "-c", "--info", "-i"),
    *("--shell-completion", "-sc"),
)
VALUED = ("--cfg", "-c", "--package", "-p", "--info", "-i")
FLAGS = (
    *(PLAN, ALLOW_ENV),
    # Hydra's, in both forms
    *(*SHOWING, "--resolve", "--package", "-p", "--run", "-r", "--multirun", "-m"),
    *("--config-dir", "-cd"),  # but no other primary config: it could say anything
)


@dataclass(frozen=True)
class Arguments:
    """A command line, read. Folders of the person's own are the first of the overrides."""

    overrides: list[str]
    multirun: bool
    plan: bool
    flags: list[str]  # for Hydra alone, each perhaps followed by its value
    has_own_folder: bool
    other_sweeper: bool  # one of Hydra's is to do the sweep

    @property
    def shows(self) -> bool:
        """Nothing is to run: Hydra shows a config, or a help."""
        return any(flag.partition("=")[0] in SHOWING for flag in self.flags)

    def words(self) -> list[str]:
        """The command line for Hydra."""
        return [*self.overrides, *self.flags, *(["--multirun"] if self.multirun else [])]


def read_arguments(words: Sequence[str]) -> Arguments:
    """Refuses what is not known, or could run code."""
    for word in words:
        refuse_word(word)
    overrides: list[str] = []
    flags: list[str] = []
    folder = None
    rest = list(words)
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        if flag in ("--config-dir", "-cd"):
            if folder is not None:
                raise UidsError(f"{flag} was given twice: only one folder can be searched")
            folder = value if equals else rest.pop(0) if rest else ""
        elif not word.startswith("-"):
            overrides.append(word)
        elif word not in ("-m", "--multirun", PLAN, ALLOW_ENV):
            flags.append(word)
            if word in VALUED and rest and "=" not in rest[0] and not rest[0].startswith("-"):
                flags.append(rest.pop(0))
    entries, overrides = search_path(overrides, folder)
    if entries:
        refuse_shadows(entries, conf_folder())
        overrides = [search_word(entries, ALLOW_ENV in words), *overrides]
    return Arguments(
        overrides,
        multirun="-m" in words or "--multirun" in words,
        plan=PLAN in words,
        flags=flags,
        has_own_folder=bool(entries),
        other_sweeper=any(word.lstrip("+~").startswith("hydra/sweeper") for word in overrides),
    )


def refuse_word(word: str) -> None:
    flag, _, value = word.partition("=")
    if flag == "--experimental-rerun":
        raise UidsError(f"{flag} reads a pickle, which could run code: not supported")
    if flag.startswith("-") and flag not in FLAGS:
        raise UidsError(unknown("option", flag, FLAGS))
    group = flag.lstrip("+~")
    file = hint(value) if group == "dataset" and ("/" in value or ".." in value) else None
    if file:
        raise UidsError(f"{word}: a data set is chosen by its name; {file}")
    if group in (*GROUPS, "experiment") and ".." in value:
        # It would be read as one of our own, whoever wrote it.
        raise UidsError(f"{word}: a config is chosen by its name; its folder is for --config-dir")


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


def load_trusted(loader: ConfigLoader, overrides: Sequence[str], mode: RunMode) -> DictConfig:
    """The config of a command, checked against what it would be without a folder of one's own."""
    config = loader.load_configuration("config", list(overrides), run_mode=mode)
    if not any(word.startswith(f"{SEARCH}=") for word in overrides):
        return config
    closed = ("hydra", REPORTERS.kind)
    typed = [word for word in overrides if word.lstrip("+~").startswith(closed)]
    typed = [word for word in typed if not word.startswith(f"{SEARCH}=")]
    reference = loader.load_configuration("config", typed, run_mode=mode)
    check_trusted(config, reference)
    check_output(config, reference, mode)
    return config
