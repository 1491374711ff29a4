"""Work shared out to threads, and BLAS kept from taking them.

They are Python's own, since compiled loops and numpy run without the GIL: numba's threading layers
are not all safe in several threads or after a fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

MANY = 1024  # threads at once, more than any machine here has cores


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


def one_blas_thread(wanted: bool) -> AbstractContextManager[Any]:
    """For a loop whose products are not by BLAS, or are small.

    BLAS's threads look for their next task in a busy loop. After each product of two vectors they
    would take the cores from those that work on H, which doubles the time of a sparse solve.
    """
    return _controller().limit(limits=1, user_api="blas") if wanted else nullcontext()


def blas_threads() -> int:
    """Those that BLAS may take now."""
    libraries = _controller().select(user_api="blas").lib_controllers
    return max((library.num_threads for library in libraries), default=1)


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
