"""Which components a name on the command line stands for, and all that is checked of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from uids.errors import UidsError, unknown
from uids.registry import REGISTRIES, Chosen, Entry

if TYPE_CHECKING:
    from uids.testing.check import Check  # imports numpy


def found(name: str) -> list[Entry]:
    """The components of a package, or those of that name, of whatever kind."""
    entries = [entry for registry in REGISTRIES.values() for entry in registry.entries()]
    package = [e for e in entries if e.package != "uids" and same_package(e.package, name)]
    named = [entry for entry in entries if entry.name == name]
    if not package and not named:
        known = {e.package for e in entries if e.package != "uids"} | {e.name for e in entries}
        raise UidsError(
            unknown("package or component", name, known) + "; is the package installed?"
        )
    return package or named


def same_package(one: str, two: str) -> bool:
    """As pip compares names: hyphens, dots and underscores are alike."""
    return re.sub(r"[-_.]+", "-", one).lower() == re.sub(r"[-_.]+", "-", two).lower()


def chosen(entry: Entry, fields: Mapping[str, object]) -> Chosen:
    return Chosen(entry.kind, REGISTRIES[entry.kind].build(entry.name, **fields), entry)


def lacking(entry: Entry, fields: Mapping[str, object]) -> str:
    """Why a component cannot be made of these fields alone, and how to give the others; or
    nothing."""
    from uids.testing.adopted import needed_fields

    needed = [name for name in needed_fields(entry.load()) if name not in fields]
    if not needed:
        return ""
    words = " ".join(f"{name}=…" for name in [*fields, *needed])
    verb = "has" if len(needed) == 1 else "have"
    return (
        f"{entry.who} is not checked, since {' and '.join(needed)} {verb} no default: "
        f"uids plugins check {entry.name} {words}"
    )


def all_checks(kind: str) -> list[Check]:
    """Those of ``uids.testing``, and that of the command line, which knows Hydra."""
    from uids.app.plugins.command_line import command_line
    from uids.testing import checks
    from uids.testing.check import Check

    return [*checks(kind), Check(kind, command_line)]
