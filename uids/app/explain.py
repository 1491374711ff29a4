"""Hydra's and OmegaConf's errors, each as one line that says what to do."""

from __future__ import annotations

from collections.abc import Iterator

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
)

from uids.app.own_file import hint
from uids.errors import UidsError, one_line, unknown
from uids.registry import GROUPS


def explain(error: BaseException) -> str:
    """Our own words first; else the innermost error that can be put plainly: it knows most."""
    chain = list(_chain(error))
    for link in chain:
        if isinstance(link, UidsError):
            return str(link)
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
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        file = hint(error.missing_cfg_file.removeprefix("dataset/").removesuffix(".yaml"))
        if file and error.missing_cfg_file.startswith("dataset/"):
            return f"dataset= takes the name of a data set or of a format; {file}"
        group, _, name = error.missing_cfg_file.rpartition("/")
        kind = group.rpartition("/")[2]
        if (group, name) == ("hydra/launcher", "joblib"):
            return "hydra/launcher=joblib needs a package: pip install uids[parallel]"
        known = GROUPS[kind].names() if kind in GROUPS else error.options
        return unknown(group or "config", name.removesuffix(".yaml"), known or [])
    if isinstance(error, OverrideParseException):
        how = "put the value in quotes, as in 'key=\"a value\"'"
        if "=" not in error.override:
            how = hint(error.override) or (
                "an override is written key=value; the commands are listed by --help"
            )
        return f"cannot read {error.override!r}: {how}"
    if isinstance(error, HydraException) and "add --multirun" in str(error):
        return f"{one_line(error).split(chr(39))[1]} is a sweep: add -m"
    if isinstance(error, MissingMandatoryValue):
        key = error.full_key or str(error).split()[-1]
        return None if "$" in key else f"{key} must be given: {key}=…"
    if not isinstance(error, OmegaConfBaseException) or not error.full_key:
        # The inner links of OmegaConf's own chain, which it keeps under a debugger or a coverage
        # tool, do not know yet where they are.
        return _system_error(error)
    if isinstance(error, ConfigAttributeError | ConfigKeyError):
        return _unknown_key(error)
    return f"{error.full_key}: {str(error.msg).strip().splitlines()[0]}"


def _system_error(error: BaseException) -> str | None:
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
