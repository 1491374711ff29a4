"""All that is printed: labels, names and errors can hold what a terminal would obey."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from uids.errors import UidsWarning
from uids.system.visible import visible, visible_lines


def say(text: object = "") -> None:
    # The end of the line with the line: a signal may come between two writes.
    print(visible_lines(str(text)) + "\n", end="", flush=True)


def complain(text: object) -> None:
    """One line on stderr."""
    print(visible(str(text)) + "\n", end="", file=sys.stderr, flush=True)


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Our own are for whoever runs the command: without the place in the code that Python adds."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, UidsWarning):
                complain(f"uids: {message}")
            else:
                others(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield
