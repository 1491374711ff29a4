"""The text of a config file, bounded before anything is built of it.

YAML's aliases let a few lines stand for billions of nodes, and brackets nest deeper than Python can
recurse. So the events of the parser are counted first, which builds nothing: an alias counts as
much as what it stands for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from uids.errors import UidsError, one_line

MAX_BYTES = 2**18  # of a file: as much as is looked through in a second
MAX_NODES = 10_000  # of a file, keys and aliased nodes included; the largest of ours has 200
MAX_DEPTH = 30  # of lists and mappings in each other
MAX_SCALAR = 10_000  # characters of one value: a number of more is read in quadratic time
MAX_REFERRING = 20_000  # characters of a file in values that refer to others: parsed slowly

REFERENCE = re.compile(r"\$\{[^${}]*\}")

# Terminals obey these, and a reader cannot see them; a tab or the end of a line is text.
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def shown(path: Path) -> str:
    """The path as a message names it: short where it is below the current folder."""
    relative = os.path.relpath(path)
    return repr(str(path) if relative.startswith("..") else relative)


def brief(value: object) -> str:
    """A value as a message shows it: none of its control characters, and not all of a long one."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def read_bounded(path: Path) -> str:
    """The text of a YAML file; a UidsError where it is too large, or no YAML."""
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise UidsError(f"{shown(path)} is larger than {MAX_BYTES} bytes: too large for a config")
    try:
        text = content.decode("utf-8-sig")
        check_events(yaml.parse(text, Loader=yaml.SafeLoader))
    except UnicodeDecodeError as error:
        raise UidsError(f"{shown(path)} is not text in UTF-8 (byte {error.start})") from error
    except (yaml.YAMLError, ValueError) as error:
        raise UidsError(f"{shown(path)} cannot be read: {yaml_error(error)}") from error
    return text


def yaml_error(error: Exception) -> str:
    """In one line, without the excerpt of the file, which might hold anything."""
    text, place = one_line(error), ""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        text = " ".join(str(error.problem).split())
        place = f" (line {error.problem_mark.line + 1}, column {error.problem_mark.column + 1})"
    return UNSEEN.sub("?", text)[:300] + place


def check_events(events: Iterator[yaml.Event]) -> None:
    """A ValueError where the tree would be too large, too deep, or more than a tree of values."""
    total, referring = 0, 0
    sizes: dict[str, int] = {}  # of what an anchor stands for
    opened: list[tuple[str | None, int]] = []  # the anchor, and the total before it
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor:
                sizes[anchor] = total - before
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise ValueError(f"{at(event)}: an alias of what is not there, or of itself")
            total += sizes[event.anchor]
        else:
            check_tag(event)
            total += 1
        if isinstance(event, yaml.CollectionStartEvent):
            sizes.pop(event.anchor, None)
            opened.append((event.anchor, total - 1))
        elif isinstance(event, yaml.ScalarEvent):
            check_scalar(event)
            referring += len(event.value) if "${" in event.value else 0
            if event.anchor:
                sizes[event.anchor] = 1
        if total > MAX_NODES or referring > MAX_REFERRING:
            raise ValueError(
                f"{at(event)}: more than {MAX_NODES} values (aliases written out) or "
                f"{MAX_REFERRING} characters of references: too large for a config"
            )
        if len(opened) > MAX_DEPTH:
            raise ValueError(f"{at(event)}: nested deeper than {MAX_DEPTH}, too deep for a config")


def check_tag(event: yaml.NodeEvent) -> None:
    if event.tag is not None and event.tag != "!":
        raise ValueError(f"{at(event)}: a config has no tags, and here is {brief(event.tag)}")


def check_scalar(event: yaml.ScalarEvent) -> None:
    if len(event.value) > MAX_SCALAR:
        raise ValueError(f"{at(event)}: a value of more than {MAX_SCALAR} characters")
    if UNSEEN.search(event.value):
        raise ValueError(f"{at(event)}: a control character in {brief(event.value)}")
    if "${" in REFERENCE.sub("", event.value):
        raise ValueError(f"{at(event)}: a reference in a reference, or an open one")


def at(event: yaml.Event) -> str:
    return f"line {event.start_mark.line + 1}"
