"""What is being written and not yet in its place, named so that nothing of it stays.

It is called ``.NAME-unfinished-HOST-PID-…``: what a killed process has left can be told from what
another is at work on, and is removed by the next one in that place.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from uids.system.processes import is_alive

UNFINISHED = re.compile(r"\..+-unfinished-(?P<host>[\w.]+)-(?P<pid>\d+)-[0-9a-f]+(\.\w+)?")
DAY = 24 * 3600  # seconds after which it is left over, whoever's it was

_mine: set[Path] = set()  # what this process has begun


def begin(folder: Path, name: str, suffix: str = "") -> Path:
    """A name in the folder for a file or a folder that the caller makes, and hands to ``end``. It
    is on record before it is there: an interrupt may come between any two lines."""
    random = secrets.token_hex(4)
    path = folder / f".{name}-unfinished-{_host()}-{os.getpid()}-{random}{suffix}"
    _mine.add(path)
    return path


def end(path: Path) -> None:
    """Removes it, unless it was renamed."""
    _remove(path)
    _mine.discard(path)


def end_all() -> None:
    """Of a process that is about to end, what its own code no longer will."""
    for path in list(_mine):
        if f"-{os.getpid()}-" in path.name:  # after a fork the others are the parent's
            with suppress(OSError):
                end(path)


def remove_leftovers(folders: Iterable[Path]) -> None:
    """What processes that are no more have begun right in these folders."""
    for folder in folders:
        with suppress(OSError):
            for path in list(folder.glob(".*-unfinished-*")):
                with suppress(OSError):
                    if _is_left(path):
                        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_left(path: Path) -> bool:
    named = UNFINISHED.fullmatch(path.name)
    if named is None:
        return False
    gone = named["host"] == _host() and not is_alive(int(named["pid"]))
    return gone or time.time() - path.stat().st_mtime > DAY


def _host() -> str:
    return re.sub(r"[^\w.]", "_", socket.gethostname()) or "host"
