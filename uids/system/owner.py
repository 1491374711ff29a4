"""A process that lives no longer than the one that had it started, its owner."""

from __future__ import annotations

import os
import threading
import time

from uids.system.processes import is_alive
from uids.system.unfinished import end_all

INTERVAL = 0.1  # seconds between two looks at the owner

_owner: int | None = None  # None: this process is its own
_is_child = False


def belong_to(owner: int) -> None:
    """From now on this process ends by itself when ``owner`` has ended."""
    global _owner, _is_child
    watched = _owner is not None
    _owner, _is_child = owner, os.getppid() == owner
    end_without_owner()
    if not watched:
        threading.Thread(target=_watch, name="uids-owner", daemon=True).start()


def end_without_owner() -> None:
    """Also before anything is put in its place: nobody waits for it any more, and another process
    may be at work there."""
    if _owner is not None and not _is_there(_owner):
        end_all()
        os._exit(1)


def _is_there(owner: int) -> bool:
    # A child is given to another parent at once, whether or not anybody asks how its own has ended.
    return os.getppid() == owner if _is_child else is_alive(owner)


def _watch() -> None:
    while True:
        time.sleep(INTERVAL)
        end_without_owner()
