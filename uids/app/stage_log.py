"""The stages of a run in its ``uids.log``: when each began, and at the end how long each took."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from uids.pipeline.clock import STAGES
from uids.pipeline.metrics import Seconds
from uids.system.progress import overhearing
from uids.system.visible import visible

INTERVAL = 10.0  # seconds without a line, after which there is one on what goes on


@contextmanager
def stages_logged(log: logging.Logger, interval: float = INTERVAL) -> Iterator[None]:
    """A line when a stage begins for the first time, and now and then on what goes on."""
    began = time.monotonic()
    seen: set[str] = set()
    last = 0.0  # seconds from the beginning to the line before

    def hear(what: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic() - began
        if (what in STAGES and what not in seen) or now - last >= interval:
            seen.add(what)
            last = now
            far = f" {done:,}/{total:,}" if total > 1 else ""
            log.info("%.2f s: %s%s", now, visible(what), far)

    with overhearing(hear):
        yield


def log_seconds(log: logging.Logger, seconds: Seconds) -> None:
    spent = ", ".join(f"{stage} {value:.2f} s" for stage, value in seconds.items())
    log.info("done: %s", spent)
