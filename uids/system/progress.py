"""One channel for progress. Whoever works tells; whoever listens decides what to show.

with listening(callback):      # callback(what, done, total)
    …
    tell("fit", 0, 1)          # a stage has begun
    steps = Steps("newton", 1000)
    steps.done(3)              # long work within it, which speaks up only if it takes long
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[str, int, int], None]  # what, steps done, steps in all
SILENT = 1.0  # seconds, in which work within a stage does not speak up
INTERVAL = 0.1  # seconds between two words about the same work

_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)


@contextmanager
def listening(callback: Progress | bool | None) -> Iterator[None]:
    """The callback hears what is told in this context; without one, whoever listens already. True
    and False ask for a bar or for none, which is the business of ``uids/app/python.py``."""
    heard = None if isinstance(callback, bool) else callback
    token = _listener.set(heard or _listener.get())
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def overhearing(callback: Progress) -> Iterator[None]:
    """The callback hears it too, beside whoever listens already."""
    first = _listener.get()

    def both(what: str, done: int, total: int) -> None:
        callback(what, done, total)
        if first is not None:
            first(what, done, total)

    with listening(both):
        yield


def tell(what: str, done: int, total: int) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


class Steps:
    """Steps of work that may take long: told some times a second, once it has taken a second."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total = what, total
        self.next = time.monotonic() + SILENT

    def done(self, count: int) -> None:
        now = time.monotonic()
        if now >= self.next:
            self.next = now + INTERVAL
            tell(self.what, count, self.total)
