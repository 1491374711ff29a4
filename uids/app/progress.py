"""Progress on the terminal; quiet when nobody is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar over the repeats that also names the stage. None when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(bar_format="{desc:<12}{bar:30} {n_fmt}/{total_fmt} {elapsed}", leave=False) as bar:

        def tell(stage: str, done: int, total: int) -> None:
            bar.set_description_str(stage, refresh=False)
            bar.n, bar.total = done, total
            bar.refresh()

        yield tell
