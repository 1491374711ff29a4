"""Hydra's and OmegaConf's errors, each as one line that says what to do."""

from __future__ import annotations

from collections.abc import Iterator

from hydra.errors import MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
)

from uids.errors import UidsError, unknown
from uids.registry import one_line


def explain(error: BaseException) -> str:
    """The innermost error knows most: the chain is searched for one that can be put plainly."""
    chain = list(_chain(error))
    for link in reversed(chain):
        sentence = _plain(link)
        if sentence is not None:
            return sentence
    return f"{type(error).__name__}: {one_line(error)}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _plain(error: BaseException) -> str | None:
    if isinstance(error, UidsError):
        return str(error)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, name = error.missing_cfg_file.rpartition("/")
        return unknown(group or "config", name.removesuffix(".yaml"), error.options or [])
    if isinstance(error, OverrideParseException):
        return (
            f"cannot read {error.override!r}: an override is written key=value; "
            "the commands are listed by --help"
        )
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key} must be given: {error.full_key}=…"
    if isinstance(error, ConfigAttributeError | ConfigKeyError):
        return _unknown_key(error)
    if isinstance(error, OmegaConfBaseException) and error.msg:
        where = f"{error.full_key}: " if error.full_key else ""
        return where + error.msg.strip().splitlines()[0]
    if isinstance(error, OSError) and error.strerror:
        where = f" {error.filename!r}" if error.filename else ""
        return f"cannot use{where}: {error.strerror}"
    return None


def _unknown_key(error: OmegaConfBaseException) -> str:
    parent, _, key = str(error.full_key).rpartition(".")
    node = error.parent_node
    known = [str(k) for k in node if k != "name"] if isinstance(node, DictConfig) else []
    what = f"field of {parent}" if parent else "key"
    if isinstance(node, DictConfig) and isinstance(node.get("name"), str):
        what += f" {node['name']!r}"
    return unknown(f"{what}:", key, known)
