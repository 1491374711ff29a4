"""The one exception that a person is meant to read: a sentence, no traceback."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UidsError(Exception):
    """What is wrong, the value seen, and what to do, in one line."""


def unknown(what: str, seen: str, known: Iterable[str]) -> str:
    """``unknown sampler 'sigmod'. Did you mean 'sigmoid'? Known: …``"""
    known = sorted(known)
    near = get_close_matches(seen, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {seen!r}.{hint} Known: {', '.join(known) or 'none'}"


def require(holds: bool, name: str, must: str, seen: object) -> None:
    """One phrasing for every value out of range; meant for ``__post_init__``."""
    if not holds:
        raise ValueError(f"{name} must be {must} (got {seen!r})")
