"""Work shared out to threads.

They are Python's own, since compiled loops and numpy run without the GIL: numba's threading layers
are not all safe in several threads or after a fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

MANY = 1024


@cache
def pool() -> ThreadPoolExecutor:
    """One for all; it starts a thread only when none is idle."""
    return ThreadPoolExecutor(MANY, thread_name_prefix="uids")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # the child has none of the threads


def on_threads(work: Callable[[int], None], count: int) -> None:
    """work(0), …, work(count − 1), the first in this thread; all have ended when it returns."""
    futures = [pool().submit(work, t) for t in range(1, count)]
    failures: list[BaseException] = []
    try:
        work(0)
    except BaseException as error:
        failures.append(error)
    failures += [error for error in (future.exception() for future in futures) if error]
    if failures:
        raise failures[0]
