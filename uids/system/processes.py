"""Which processes are alive."""

from __future__ import annotations

import os
from pathlib import Path


def is_alive(process: int) -> bool:
    """On this machine. Where the system does not tell, it is."""
    if os.name != "posix":  # there os.kill would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return not _is_zombie(process)


def _is_zombie(process: int) -> bool:
    """Whether it has ended, and only its parent has not asked how."""
    try:
        about = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # no such file on this system, or it ended just now
        return False
    return about.rpartition(")")[2].split()[0] in "ZX"
