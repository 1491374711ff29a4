"""Folders of parsed arrays in the cache: made whole, within a bound, and cleared of what was left.

A folder appears by rename. One that is being written is called ``.parsing-HOST-PID-…``, so that
what a killed process has left can be told from what another is at work on, and removed. With its
arrays it has their checksums: what is damaged is seen, and made again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from uids.system.checksum import checksum
from uids.system.files import write_text

LIMIT = 32 * 2**30  # bytes of all parsed folders together; those not used for longest go first
SUMS = "checksums.json"
UNFINISHED = re.compile(r"\.parsing-(?P<host>.+)-(?P<pid>\d+)-[^-]*")
DAY = 24 * 3600  # seconds after which a folder of a process that cannot be asked about is left over


def make(folder: Path, write: Callable[[Path], None], limit: int = LIMIT) -> None:
    """By rename, so that a folder that is there is whole, also under parallel jobs."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder.parent)
    temporary = _temporary(folder.parent)
    try:
        write(temporary)
        sums = {path.name: checksum(path) for path in sorted(temporary.iterdir())}
        write_text(temporary / SUMS, json.dumps(sums))
        try:
            temporary.rename(folder)
        except OSError:
            if not folder.is_dir():  # another job was first: then its folder will do
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    prune(folder, limit)


def _temporary(parent: Path) -> Path:
    host = re.sub(r"[^\w.]", "_", socket.gethostname()) or "host"
    made = tempfile.mkdtemp(prefix=f".parsing-{host}-{os.getpid()}-", dir=parent)
    return Path(made)


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
    temporary = _temporary(folder.parent)
    with suppress(FileNotFoundError):  # another job was first
        folder.rename(temporary / folder.name)
    shutil.rmtree(temporary, ignore_errors=True)


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


def remove_leftovers(parent: Path) -> None:
    """Folders of processes that are no more."""
    for path in parent.glob(".parsing-*"):
        with suppress(OSError):
            if _is_left(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_left(path: Path) -> bool:
    named = UNFINISHED.fullmatch(path.name)
    here = re.sub(r"[^\w.]", "_", socket.gethostname())
    if named and named["host"] == here and os.name == "posix":
        return not _is_alive(int(named["pid"]))
    return time.time() - path.stat().st_mtime > DAY


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True
