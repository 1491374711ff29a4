"""A component that was chosen for a run, with its name, entry and fields, and the blame for what it
raises."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from uids.errors import Blame, UidsError, shown
from uids.registry.entry import Entry
from uids.registry.fields import plain

MARK = "__uids_entry__"  # on an object that a registry has built: the entry that it was built from


@dataclass(frozen=True)
class Chosen:
    """``entry`` is None for an object of a class that nobody has registered."""

    kind: str
    component: Any
    entry: Entry | None = None

    @property
    def name(self) -> str:
        """The name by which it was chosen, else that of its class."""
        return self.entry.name if self.entry else str(type(self.component).__qualname__)

    @property
    def fields(self) -> dict[str, Any]:
        """Its config, as plain values."""
        fields = [f for f in dataclasses.fields(self.component) if f.init and f.repr]
        return {f.name: plain(getattr(self.component, f.name)) for f in fields}

    @property
    def nested(self) -> list[Entry]:
        """Entries of other registries that its fields name, as a network is of its model: from
        the component's ``nested_entries()``, where it has that."""
        entries: list[Entry] = ask(self.component, "nested_entries", self.blame, list)
        return entries

    @property
    def blame(self) -> Blame:
        if self.entry is None:
            return Blame(f"{self.kind} {self.name!r}")
        return Blame(self.entry.who, trusted=self.entry.package == "uids")

    def replaced(self, component: Any) -> Chosen:
        """The same choice with another object for it, such as one with other fields."""
        return dataclasses.replace(self, component=component)


def refuse_fields(chosen: Collection[Chosen], keys: Mapping[str, Any]) -> None:
    """A field of a chosen component that stands beside it, as in ``run(sampler="sigmoid",
    alpha=5)``, is refused with the way that works."""
    for key, value in keys.items():
        for each in chosen:
            if key not in each.fields:
                continue
            given = f"{type(each.component).__name__}({key}={shown(value)})"
            if each.entry is not None:
                given = f'{{"name": "{each.name}", "{key}": {shown(value)}}}'
            raise UidsError(
                f"{key!r} is a field of {each.kind} {each.name!r}: give it as {each.kind}={given}"
            )


def ask(value: Any, name: str, blame: Blame, default: Callable[..., Any], *arguments: Any) -> Any:
    """By the object's own method of that name where it has one, else by the default."""
    method = getattr(value, name, None)
    if not callable(method):
        return default(*arguments)
    with blame:
        return method(*arguments)


def marked(component: Any, entry: Entry) -> Any:
    """The object, which then knows its entry: two names may be of one class."""
    with suppress(AttributeError):  # it has slots: then its class tells
        object.__setattr__(component, MARK, entry)
    return component


def mark_of(component: Any) -> Entry | None:
    entry: Entry | None = getattr(component, MARK, None)
    return entry
