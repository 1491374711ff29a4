"""Ctrl-C and the signals that ask a process to end: it does, soon, and leaves nothing unfinished.

A signal is raised in the main thread as ``Stopped``, which ends what is under way. A second thread
sees that this happens: where the main thread is within machine code for long, it ends the process
itself.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from uids.app.terminal import say
from uids.system.unfinished import end_all

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # those that there are on this system
GRACE = 1.5  # seconds in which the main thread is to notice; what comes within is one wish to end


class Stopped(KeyboardInterrupt):
    """A signal has asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def code(self) -> int:
        """The exit code, as shells have it."""
        return 128 + self.number

    def __str__(self) -> str:
        name = signal.Signals(self.number).name
        return "interrupted" if self.number == signal.SIGINT else f"ended by {name}"


_last_words: list[Callable[[], None]] = []
_noticed = threading.Event()
_raised: list[Stopped] = []  # in the main thread


@contextmanager
def last_words(speak: Callable[[], None]) -> Iterator[None]:
    """``speak`` is called when what is within does not come to its end."""
    _last_words.append(speak)
    try:
        yield
    except BaseException:
        _noticed.set()
        speak()
        raise
    finally:
        _last_words.remove(speak)


@contextmanager
def stoppable(hint: str) -> Iterator[None]:
    """What is within can be stopped. ``hint`` follows the line that is said of it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only there can signals be handled
        return
    numbers = [number for number in signal.Signals if number.name in SIGNALS]
    # One that is ignored stays so, as after nohup.
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) != signal.SIG_IGN}
    _noticed.clear()
    _raised.clear()
    watched, seen = socket.socketpair()
    seen.setblocking(False)
    watcher = threading.Thread(target=watch, args=(watched, hint), name="uids-stop", daemon=True)
    watcher.start()
    wakeup = signal.set_wakeup_fd(seen.fileno(), warn_on_full_buffer=False)
    unraisable, sys.unraisablehook = sys.unraisablehook, quiet_if_stopped(sys.unraisablehook)
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    except Exception:
        raise_if_stopped()
        raise
    finally:
        _noticed.set()
        _raised.clear()
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)
        sys.unraisablehook = unraisable
        seen.close()
        watcher.join()
        watched.close()


def quiet_if_stopped(hook: Callable[[Any], object]) -> Callable[[Any], object]:
    """Where Python cannot raise it, as within the callback of a weak reference, the other thread
    ends the process: nothing to tell."""

    def told(unraisable: Any) -> None:
        if not isinstance(unraisable.exc_value, Stopped):
            hook(unraisable)

    return told


def stop(number: int, _: object) -> None:
    if not _noticed.is_set():
        _raised.append(Stopped(number))
        raise _raised[-1]


def raise_if_stopped() -> None:
    """For whoever catches errors of any kind: code that is interrupted while it tidies up may raise
    one of its own in place of ``Stopped``."""
    if _raised:
        raise _raised[-1]


def watch(signals: socket.socket, hint: str) -> None:
    """Reads the number of each signal as it comes, until there can be no more."""
    first = 0.0
    while received := signals.recv(1):
        number = received[0]
        first = first or time.monotonic()
        again = time.monotonic() - first > GRACE
        if again or not _noticed.wait(GRACE):
            end_now(Stopped(number), hint)


def end_now(stopped: Stopped, hint: str) -> None:
    """Without the main thread."""
    end_all()
    if not _noticed.is_set():
        for speak in reversed(_last_words):
            with suppress(Exception):
                speak()
    with suppress(OSError):
        say(f"{stopped}{hint}")
    os._exit(stopped.code)
