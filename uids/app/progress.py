"""What is told about progress: a bar on the terminal or in a notebook, a line now and then in a
log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from uids.app.terminal import complain
from uids.system.progress import listening
from uids.system.visible import visible

# What the work is called, how far it is, and the time since the first word about it.
FORMAT = "{desc:<12}{bar:30} {n_fmt}/{total_fmt} {elapsed}"

INTERVAL = 10.0  # seconds between two lines in a log


@contextmanager
def progress_shown(interval: float | None = None) -> Iterator[None]:
    """In the way that suits where stderr goes."""
    looked_at = sys.stderr.isatty() or in_notebook()
    with progress_bar() if looked_at else progress_lines(complain, interval or INTERVAL):
        yield


def in_notebook() -> bool:
    """Whether the cells of a notebook show what is printed; IPython is not imported for that."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


@contextmanager
def progress_bar() -> Iterator[None]:
    """One bar for whatever is told meanwhile: the stages of a run, and long work within them. It
    appears with the first word, and goes at the end."""
    from tqdm.auto import tqdm

    bars: list[tqdm] = []
    # A notebook's bar is no text: tqdm has a form of its own for it.
    options = {} if in_notebook() else {"bar_format": FORMAT}

    def show(what: str, done: int, total: int) -> None:
        if not bars:
            bars.append(tqdm(total=total, leave=False, **options))
        bar = bars[0]
        bar.set_description_str(visible(what), refresh=False)
        if in_notebook() and bar.total != total:
            bar.reset(total)  # the length of a bar that is no text
        bar.n, bar.total = done, total
        bar.refresh()

    try:
        with listening(show):
            yield
    finally:
        for bar in bars:
            bar.close()


@contextmanager
def progress_lines(say: Callable[[str], None], interval: float) -> Iterator[None]:
    """A line on what is being done, each ``interval`` seconds; none for work that ends before.

    By a thread, since a stage that takes long need not tell how far it is."""
    began = time.monotonic()
    last: list[tuple[str, int, int]] = []
    over = threading.Event()

    def hear(what: str, done: int, total: int) -> None:
        last[:] = [(what, done, total)]

    def speak() -> None:
        while not over.wait(interval):
            for word in last:
                say(progress_line(*word, time.monotonic() - began))

    speaker = threading.Thread(target=speak, name="uids-progress", daemon=True)
    speaker.start()
    try:
        with listening(hear):
            yield
    finally:
        over.set()
        speaker.join()


def progress_line(what: str, done: int, total: int, seconds: float) -> str:
    """``uids: refit 3/10, 120 s``"""
    far = f" {done:,}/{total:,}" if total > 1 else ""
    return f"uids: {what}{far}, {seconds:.0f} s"
