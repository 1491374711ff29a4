"""Whether what a file holds is of the type that it is taken for."""

from __future__ import annotations

from functools import cache
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints, is_typeddict


@cache
def hints_of(kind: type) -> dict[str, object]:
    return get_type_hints(kind)


def fits(value: object, hint: object) -> bool:
    """Of JSON's types, TypedDicts, unions and literals. What is there must be of its type; a key
    that a TypedDict has and the value lacks is not missed, since files of other versions have
    other keys. A number may be null: one that is not finite is written so."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is object:
        return True
    if isinstance(hint, type) and is_typeddict(hint):
        hints = hints_of(hint)
        return isinstance(value, dict) and all(
            fits(child, hints[key]) for key, child in value.items() if key in hints
        )
    if origin in (UnionType, Union):
        return any(fits(value, each) for each in inner)
    if origin is Literal:
        return value in inner
    if origin is list:
        return isinstance(value, list) and all(fits(child, inner[0]) for child in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(child, inner[1]) for child in value.values())
    if hint in (int, float):
        return isinstance(value, int | float | NoneType) and not isinstance(value, bool)
    return isinstance(value, hint) if isinstance(hint, type) else False
