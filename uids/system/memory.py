"""What the machine has, and what is more than that."""

from __future__ import annotations

import os

from uids.errors import UidsError


def memory() -> int:
    """Bytes of main memory; without limit where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**63


def refuse_beyond_memory(needed: int, what: str, advice: str = "use fewer rows") -> None:
    """Before it is allocated: the system would kill the process, or swap for hours."""
    if needed > memory():
        raise UidsError(
            f"{what} needs {needed / 2**30:,.1f} GiB, and this machine has "
            f"{memory() / 2**30:,.1f} GiB: {advice}"
        )
