"""What this process may use, and what is more than that."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from uids.errors import UidsError

UNLIMITED = 2**63  # bytes: more than there are
CGROUPS = Path("/sys/fs/cgroup")


def memory() -> int:
    """Bytes of main memory that this process may use: those of the machine, or of its container
    (cgroup) or ``ulimit`` where these are less. Without limit where the system does not tell."""
    return min((_machine(), *_limits()))


@cache
def _machine() -> int:
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        machine = UNLIMITED
    return min([machine, *group_limits(Path("/proc/self/cgroup"), CGROUPS)])


def _limits() -> tuple[int, ...]:
    """Those of ``ulimit -d`` and ``ulimit -v``, which a process may set for itself at any time."""
    if sys.platform == "win32":
        return ()
    import resource

    found = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_DATA, resource.RLIMIT_AS))
    return tuple(limit for limit in found if limit != resource.RLIM_INFINITY)


def group_limits(own: Path, mounted: Path) -> Iterator[int]:
    """Of the control groups that a process is in by its file ``own``, of either version, and of
    those above them: each of them holds. A container may see its own group as the topmost."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root = mounted / "memory" if controllers else mounted
        name = "memory.limit_in_bytes" if controllers else "memory.max"
        group = root / path.strip("/")
        for folder in (group, *group.parents):
            try:
                text = (folder / name).read_text()
            except OSError:
                text = ""
            if text.strip().isdigit():
                yield int(text)
            if folder == root:
                break


def refuse_beyond_memory(needed: int, what: str, advice: str = "use fewer rows") -> None:
    """Before it is allocated: the system would kill the process, or swap for hours."""
    if needed > memory():
        raise UidsError(
            f"{what} needs {needed / 2**30:,.1f} GiB, and this machine has "
            f"{memory() / 2**30:,.1f} GiB: {advice}"
        )
