"""``uids.run`` and ``uids.influence`` as Python calls them: the same, with a bar for
``progress=True``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import ParamSpec, TypeVar

from uids.app.progress import progress_shown
from uids.errors import UidsError, shown
from uids.pipeline.run import run as plain_run
from uids.scoring.from_python import influence as plain_influence

P = ParamSpec("P")
R = TypeVar("R")


def with_progress(function: Callable[P, R]) -> Callable[P, R]:
    """``progress=True`` shows how far the work is: a bar in a notebook and on a terminal, a line
    now and then in a log."""

    @wraps(function)
    def called(*arguments: P.args, **keywords: P.kwargs) -> R:
        progress = keywords.get("progress")
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise UidsError(
                "progress must be True, False or a function of (what, done, total), not "
                f"{shown(progress)}"
            )
        with progress_shown() if progress is True else nullcontext():
            return function(*arguments, **keywords)

    return called


run = with_progress(plain_run)
influence = with_progress(plain_influence)
