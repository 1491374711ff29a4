"""Between the fields of a component and plain values: those that a command, a config or JSON can
hold. Numbers, words and None are plain already."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from uids.errors import check_type, require, unknown


def typed(cls: type, values: Mapping[str, object], path: str = "") -> dict[str, object]:
    """Plain values as the dataclass declares them: a word as a member of an Enum, a mapping as a
    nested dataclass, a list as a tuple, and so within each other. A ValueError says which does not
    fit, by its whole name: ``mix.amount``."""
    hints = get_type_hints(cls)
    return {name: _typed(hints[name], value, path + name) for name, value in values.items()}


def _typed(hint: object, value: object, name: str) -> object:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        others = [part for part in parts if part is not NoneType]
        if len(others) == 1 and value is not None:
            return _typed(others[0], value, name)
    elif origin in (list, tuple):
        require(isinstance(value, list | tuple), name, "a list", value)
        assert isinstance(value, list | tuple)
        item = parts[:1] * len(value) if origin is list or parts[1:] == (...,) else parts
        require(len(item) == len(value), name, f"a list of {len(item)}", value)
        pairs = zip(item, value, strict=True)
        items = [_typed(of, each, f"{name}[{i}]") for i, (of, each) in enumerate(pairs)]
        return items if origin is list else tuple(items)
    elif origin is dict:
        require(isinstance(value, Mapping), name, "a dict", value)
        assert isinstance(value, Mapping)
        return {key: _typed(parts[1], each, f"{name}.{key}") for key, each in value.items()}
    elif isinstance(hint, type) and issubclass(hint, Enum):
        return _member(hint, value, name)
    elif isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _nested(hint, value, name)
    check_type(name, hint, value)
    return value


def _member(cls: type[Enum], value: object, name: str) -> Enum:
    """By its name, as a config has it, or by its value."""
    members = {member.name: member for member in cls}
    by_value = {repr(member.value): member for member in cls}
    found = (
        value if isinstance(value, cls) else members.get(str(value)) or by_value.get(repr(value))
    )
    require(found is not None, name, f"one of {', '.join(members)}", value)
    assert isinstance(found, cls)
    return found


def _nested(cls: type, value: object, name: str) -> object:
    if isinstance(value, cls):
        return value
    require(isinstance(value, Mapping), name, f"a dict of the fields of {cls.__name__}", value)
    assert isinstance(value, Mapping)
    known = [field.name for field in dataclasses.fields(cls) if field.init]
    for key in value:
        if key not in known:
            raise ValueError(unknown(f"field of {name!r}:", str(key), known))
    return cls(**typed(cls, value, f"{name}."))


def plain(value: object) -> Any:
    """What ``typed`` has made, as plain values again; anything else as it is."""
    if isinstance(value, Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return {name: plain(getattr(value, name)) for name in fields}
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value
