"""What is told about progress, as a bar on the terminal; quiet when nobody is looking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from uids.system.progress import listening
from uids.system.visible import visible

# What the work is called, how far it is, and the time since the first word about it.
FORMAT = "{desc:<12}{bar:30} {n_fmt}/{total_fmt} {elapsed}"


@contextmanager
def progress_bar() -> Iterator[None]:
    """One bar for whatever is told meanwhile: the stages of a run, and long work within them. It
    appears with the first word, and goes at the end. None when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from tqdm import tqdm

    bars: list[tqdm] = []

    def show(what: str, done: int, total: int) -> None:
        if not bars:
            bars.append(tqdm(bar_format=FORMAT, leave=False))
        bar = bars[0]
        bar.set_description_str(visible(what), refresh=False)
        bar.n, bar.total = done, total
        bar.refresh()

    try:
        with listening(show):
            yield
    finally:
        for bar in bars:
            bar.close()
