"""The one exception that a person is meant to read: a sentence, no traceback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from numbers import Integral, Real
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

SHOWN = 80  # characters of a value that an error repeats


class UidsError(Exception):
    """What is wrong, the value seen, and what to do, in one line."""


class UidsWarning(UserWarning):
    """What did not go as it should, without harm to the result; in one line."""


class ComponentError(UidsError):
    """A component failed: something that is not meant for the user was raised in it."""


def unknown(what: str, seen: str, known: Iterable[str]) -> str:
    """``unknown sampler 'sigmod'. Did you mean 'sigmoid'? Known: …``"""
    known = sorted(known)
    near = get_close_matches(seen, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {seen!r}.{hint} Known: {', '.join(known) or 'none'}"


@cache
def hints_of(cls: type) -> dict[str, Any]:
    """Evaluated once for each class: they are text in the source."""
    return get_type_hints(cls)


def check_types(cls: type, values: Mapping[str, Any]) -> None:
    """The types that a dataclass declares, for values that did not come through a config: int,
    float, bool and str, each perhaps with None. A ValueError says which is wrong."""
    hints = hints_of(cls)
    for name, value in values.items():
        check_type(name, hints[name], value)


def check_type(name: str, hint: object, value: object) -> None:
    """Of one value; any other hint than those passes."""
    union = get_origin(hint) in (Union, UnionType)
    allowed = get_args(hint) if union else (hint,)
    simple = [t for t in allowed if t in (int, float, bool, str, type(None))]
    if len(simple) < len(allowed):
        return
    fits = any(type(value) is t or (t in (int, float) and _is_number(value, t)) for t in simple)
    names = " or ".join("None" if t is type(None) else t.__name__ for t in simple)
    require(fits, name, names, value)


def _is_number(value: Any, kind: type) -> bool:
    """numpy's numbers too, and an int where a float is wanted; but no bool."""
    wanted = Integral if kind is int else Real
    return isinstance(value, wanted) and not isinstance(value, bool)


def require(holds: bool, name: str, must: str, seen: object) -> None:
    """One phrasing for every value out of range; meant for ``__post_init__``."""
    if not holds:
        raise ValueError(f"{name} must be {must} (got {seen!r})")


def shown(value: object) -> str:
    """A value that an error repeats: a class by its name, and of anything long no more than what
    it is."""
    if isinstance(value, type):
        return f"the class {value.__name__} itself: call it, {value.__name__}(…)"
    words = " ".join(repr(value).split())
    return words if len(words) <= SHOWN else f"a value of type {type(value).__name__}"


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


class Blame:
    """A context in which whatever is raised is told as the failure of ``who``, in one line.

    A ``UidsError`` is meant for the user already, or blames somebody else, and passes as it is; so
    does what is named by ``but``. Each call into a component stands in a context of its own, and
    the innermost decides. What a component hands over is looked at unless it is ``trusted``: one of
    uids itself, which its own tests prove.
    """

    def __init__(
        self, who: str, but: tuple[type[Exception], ...] = (), trusted: bool = False
    ) -> None:
        self.who, self.trusted = who, trusted
        self.passed: tuple[type[Exception], ...] = (UidsError, *but)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        # SystemExit too: a component that calls sys.exit() has failed, and is not in command.
        if isinstance(error, Exception | SystemExit) and not isinstance(error, self.passed):
            reason = f"{type(error).__name__}: {one_line(error)}"
            raise ComponentError(f"{self.who} failed: {reason}") from error
