"""Folders of parsed arrays in the cache: made whole, within a bound, and cleared of what was left.

A folder appears by rename. With its arrays it has their checksums: what is damaged is seen, and
made again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from uids.system.checksum import checksum
from uids.system.files import write_text
from uids.system.owner import end_without_owner
from uids.system.unfinished import begin, end, remove_leftovers

LIMIT = 32 * 2**30  # bytes of all parsed folders together; those not used for longest go first
SUMS = "checksums.json"
PARSING = "parsing"  # in the names of folders that are being written


def make(folder: Path, write: Callable[[Path], None], limit: int = LIMIT) -> None:
    """By rename, so that a folder that is there is whole, also under parallel jobs."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers([folder.parent])
    temporary = begin(folder.parent, PARSING)
    try:
        temporary.mkdir()
        write(temporary)
        sums = {path.name: checksum(path) for path in sorted(temporary.iterdir())}
        write_text(temporary / SUMS, json.dumps(sums))
        end_without_owner()
        try:
            temporary.rename(folder)
        except OSError:
            if not folder.is_dir():  # another job was first: then its folder will do
                raise
    finally:
        end(temporary)
    prune(folder, limit)


def is_whole(folder: Path) -> bool:
    """Whether all files are as they were written; where they are, the folder was used now."""
    try:
        sums = json.loads((folder / SUMS).read_text(encoding="utf-8"))
        whole = bool(sums) and all(checksum(folder / name) == sums[name] for name in sums)
    except (OSError, ValueError, TypeError, AttributeError):
        return False
    if whole:
        with suppress(OSError):  # a cache that can only be read
            os.utime(folder)
    return whole


def discard(folder: Path) -> None:
    """First by rename, so that nobody reads what is half removed."""
    temporary = begin(folder.parent, PARSING)
    try:
        with suppress(FileNotFoundError):  # another job was first
            folder.rename(temporary)
    finally:
        end(temporary)


def prune(used: Path, limit: int) -> None:
    """Removes the folders that were not used for longest, until the others are within the limit;
    never the one that is in use."""
    with suppress(OSError):
        others = [path for path in used.parent.iterdir() if _is_parsed(path) and path != used]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        total = _size(used)
        for folder in others:
            total += _size(folder)
            if total > limit:
                discard(folder)


def _is_parsed(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
