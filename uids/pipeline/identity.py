"""What decides a fit and what decides a run, each as one hash.

A result that is kept is believed only as long as nothing that decides it has changed: the config,
the data files, the source of the rooms that compute it, and every file of the plugins' packages.
What does not change a number is in none of the hashes: where results are kept, the report, the
command.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from uids.errors import UidsError
from uids.pipeline.settings import Settings
from uids.registry import REGISTRIES, Chosen, Entry, plain

# The rooms whose source decides θ̂ and φ, given the rows.
FIT_ROOMS = ("system", "backends", "solvers", "models", "scoring")

# The rooms whose source decides the numbers of a run, given the data files and the config.
RUN_ROOMS = (*FIT_ROOMS, "datasets", "samplers", "selection", "pipeline")

# The top-level keys that change no number of a run.
IDLE_KEYS = ("cache", "download", "report", "reporter", "sweep")

# The length of the name of a run's folder, in hexadecimal digits.
NAME_DIGITS = 12

# The length of an identity, in hexadecimal digits.
IDENTITY_DIGITS = 32

# The folder of the package uids.
PACKAGE = Path(__file__).resolve().parent.parent


def fit_identity(chosen: Sequence[Chosen]) -> str | None:
    """Of all that decides θ̂ and φ beside the rows, for the model, the solver and the backend.
    None where one of them is not registered: then nobody can tell what it is."""
    components: list[Any] = []
    for each in chosen:
        if each.entry is None:
            return None
        origins = [_origin(entry) for entry in (each.entry, *each.nested)]
        components.append([each.kind, each.name, origins, each.fields])
    return _digest([source_digest(FIT_ROOMS), components])[:IDENTITY_DIGITS]


def run_identity(config: Mapping[str, Any], chosen: Sequence[Chosen], files: object) -> str:
    """Of all that decides the numbers of a run: its config, the components that do the work, the
    source of uids, and ``files``, the fingerprint of the data files."""
    origins = [
        [each.kind, *_origin(entry)]
        for each in chosen
        for entry in (each.entry, *each.nested)
        if entry is not None
    ]
    decides = [_deciding(config), source_digest(RUN_ROOMS), origins, files]
    return _digest(decides)[:IDENTITY_DIGITS]


def run_name(config: Mapping[str, Any]) -> str:
    """The name of a run's folder: a hash of the plain config without the keys that change no number
    and without whatever has its default value, so that a new key at its default renames nothing."""
    return _digest(_deciding(config))[:NAME_DIGITS]


def source_digest(rooms: Sequence[str], root: Path = PACKAGE) -> str:
    """A hash of the source of these rooms of uids, which are folders in ``root``. It is computed
    once: what a process has imported does not change any more."""
    return _source_digest(tuple(sorted(set(rooms))), root)


@cache
def _source_digest(rooms: tuple[str, ...], root: Path) -> str:
    return _digest([[room, _folder_digest(root / room)] for room in rooms])


def package_digest(entry: Entry) -> str:
    """A hash of every file of the package that the component comes from; "" where it has none.

    A plugin that is being worked on changes without a new version. Its package is the outermost
    regular one of the module, as ``acme`` of ``acme.samplers.power``, or the module itself where it
    is a single file. A namespace package belongs to nobody in particular, so the search goes on
    below it.
    """
    words = entry.target.partition(":")[0].split(".")
    try:
        for depth in range(1, len(words) + 1):
            spec = find_spec(".".join(words[:depth]))
            if spec is None:
                return ""
            if spec.origin is None and spec.submodule_search_locations is not None:
                continue  # a namespace package
            origin = Path(spec.origin or "")
            if spec.submodule_search_locations is not None and origin.is_file():
                return _folder_digest(origin.parent)
            return hashlib.sha256(origin.read_bytes()).hexdigest()
    except (ImportError, ValueError, OSError):
        pass  # not installed any more, or not in files
    return ""


def _origin(entry: Entry) -> list[str]:
    """Who brings a component, and in which state; that of uids itself is in ``source_digest``."""
    if entry.package == "uids":
        return [entry.package]
    return [entry.package, entry.version, package_digest(entry)]


def _folder_digest(folder: Path) -> str:
    """Of the name, the size and the content of each file, in the order of their names."""
    contents = hashlib.sha256()
    for path in sorted(_files(folder)):
        content = path.read_bytes()
        name = path.relative_to(folder).as_posix()
        contents.update(f"{name}\0{len(content)}\0".encode() + content)
    return contents.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    """Every file below the folder that Python could import or a component could read. A link to a
    folder is not followed: it might lead back up. Hidden folders and compiled files, which tools
    leave, are no part of a package."""
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders[:] = [name for name in folders if name != "__pycache__" and name[0] != "."]
        for name in names:
            path = Path(parent, name)
            if path.suffix != ".pyc" and path.is_file():
                yield path


def _deciding(config: Mapping[str, Any]) -> dict[str, Any]:
    """What of the config decides a number, and is not as it would be unsaid."""
    keys = {key: value for key, value in config.items() if key not in (*IDLE_KEYS, *REGISTRIES)}
    components = {kind: _component(kind, config[kind]) for kind in REGISTRIES if kind in config}
    return {**_changed(keys, _defaults(Settings)), **components}


def _component(kind: str, config: object) -> object:
    """A component's config without the fields at their defaults; its name stays."""
    if not isinstance(config, Mapping) or "name" not in config:
        return config
    try:
        defaults = _defaults(REGISTRIES[kind].load(str(config["name"])))
    except UidsError:
        return config  # of a point that cannot be built
    return _changed(config, defaults)


@cache
def _defaults(cls: type) -> Mapping[str, Any]:
    """The default of each field of a dataclass that has one."""
    defaults: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            defaults[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = field.default_factory()
    return defaults


def _changed(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not the defaults; of a nested dataclass, those of its fields."""
    changed: dict[str, Any] = {}
    for key, value in values.items():
        default = defaults.get(key, dataclasses.MISSING)
        if default is dataclasses.MISSING:
            changed[key] = value
        elif dataclasses.is_dataclass(default) and isinstance(value, Mapping):
            fields = {
                field.name: getattr(default, field.name) for field in dataclasses.fields(default)
            }
            nested = _changed(value, fields)
            if nested:
                changed[key] = nested
        elif not _is_same(value, default) and _text(value) != _text(default):
            changed[key] = value
    return changed


def _is_same(value: object, default: object) -> bool:
    """Told without their texts, of most values; False says nothing."""
    numbers = type(value) in (int, float) and type(default) in (int, float)
    simple = type(value) is type(default) and type(value) in (str, bool, type(None))
    return (numbers or simple) and value == default


def _digest(value: object) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()


def _text(value: object) -> str:
    """The same for equal values, and only for them."""
    return json.dumps(_alike(value), sort_keys=True, default=str)


def _alike(value: Any) -> Any:
    """In plain values, and 1.0 as 1: a key that takes a number or a word keeps those apart."""
    value = plain(value)
    if isinstance(value, Mapping):
        return {str(key): _alike(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_alike(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
