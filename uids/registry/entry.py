"""One name in one registry: known without importing anything, imported when it is chosen."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Any

from uids import __version__
from uids.errors import UidsError, one_line

METHOD = {  # what makes an object a component of its kind
    "dataset": "load",
    "model": "fit",
    "solver": "solve",
    "sampler": "probabilities",
    "backend": "matrix",
    "reporter": "report",
    "network": "build",
}

ENTRY_GROUPS = tuple(f"uids.{kind}s" for kind in METHOD)  # of entry points

API = 1  # the version of what is asked of a component; raised when that changes
APIS = (1,)  # those that this uids keeps to


def installed(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of one group; the seam at which tests put made-up ones."""
    return searched().get(group, ())


@cache
def searched() -> dict[str, tuple[EntryPoint, ...]]:
    """Group ↦ its entry points. Kept, and of all groups at once: a search through all installed
    packages takes some 5 ms, and Hydra asks often."""
    found = entry_points()
    return {group: tuple(found.select(group=group)) for group in ENTRY_GROUPS}


def stray() -> tuple[EntryPoint, ...]:
    """Entry points of groups that look like ours and that nobody reads: a letter is wrong."""
    points = [point for package in distributions() for point in package.entry_points]
    return tuple(p for p in points if p.group.startswith("uids.") and p.group not in ENTRY_GROUPS)


@dataclass(frozen=True)
class Entry:
    """One name in one registry, known without importing anything."""

    kind: str
    name: str
    target: str  # "module:Class"
    package: str
    version: str
    extra: str | None = None  # "torch": the extra of uids that brings what the module imports

    @property
    def who(self) -> str:
        """For errors: the component, and whoever can mend it where that is not uids."""
        of = "" if self.package == "uids" else f" of package {self.package!r} {self.version}"
        return f"{self.kind} {self.name!r}{of}"

    @property
    def shadowed(self) -> str:
        """What is told of a name that uids itself has."""
        return (
            f"{self.who} is not used: uids itself has a {self.kind} of that name, and is; the "
            "package can be uninstalled, or give it another"
        )

    def is_of(self, cls: type) -> bool:
        """Whether the entry names this very class, by whatever way it is exported; nothing is
        imported for the answer."""
        module, _, attribute = self.target.partition(":")
        named: Any = sys.modules.get(module)
        for part in attribute.split("."):
            named = getattr(named, part, None)
        return named is cls

    def api_of(self, cls: type) -> object:
        """The version of the contract that a class says it is written for; 1 where it is silent."""
        return getattr(cls, "uids_api", APIS[0])

    def load(self) -> type:
        """Import the class, or say in one line why that cannot be done and who can mend it."""
        who = self.who
        module, _, attribute = self.target.partition(":")
        try:
            named: Any = import_module(module)
            for part in attribute.split("."):
                named = getattr(named, part)
        except (Exception, SystemExit) as error:
            # SystemExit too: a module that calls sys.exit() on import is broken, not in command.
            if self.extra is not None and isinstance(error, ImportError):
                needs = error.name or self.extra
                raise UidsError(f"{who} needs {needs}: pip install uids[{self.extra}]") from error
            raise UidsError(
                f"{who} cannot be imported: {type(error).__name__}: {one_line(error)}"
            ) from error
        if not (isinstance(named, type) and dataclasses.is_dataclass(named)):
            raise UidsError(f"{who} must be a dataclass, but {self.target} is {named!r}")
        method = METHOD[self.kind]
        if not callable(getattr(named, method, None)):
            raise UidsError(f"{who} has no method {method!r}, which every {self.kind} needs")
        if self.api_of(named) not in APIS:
            keeps = " and ".join(str(version) for version in APIS)
            raise UidsError(
                f"{who} is written for version {self.api_of(named)} of uids' contract (uids_api), "
                f"and uids {__version__} keeps to {keeps}: install versions of both that agree"
            )
        if any(field.name == "name" for field in dataclasses.fields(named)):
            raise UidsError(f"{who} has a field 'name'; that word is taken by the registry")
        return named
