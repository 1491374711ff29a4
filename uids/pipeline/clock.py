"""The stages of a run: how long each takes, told as they begin."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from uids.pipeline.metrics import Seconds
from uids.system.progress import tell

STAGES = ("load", "fit", "influence", "choose", "sample", "refit", "evaluate")


class Clock:
    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.spent = dict.fromkeys(STAGES, 0.0)
        self.current: tuple[str, int, int] | None = None

    @contextmanager
    def stage(self, name: str, done: int = 0, total: int = 1) -> Iterator[None]:
        """Told unless it is the one before, which goes on."""
        if (name, done, total) != self.current:
            self.current = (name, done, total)
            tell(*self.current)
        began = time.perf_counter()
        yield
        self.spent[name] += time.perf_counter() - began

    def seconds(self) -> Seconds:
        spent = self.spent
        return {
            "load": spent["load"],
            "fit": spent["fit"],
            "influence": spent["influence"],
            "choose": spent["choose"],
            "sample": spent["sample"],
            "refit": spent["refit"],
            "evaluate": spent["evaluate"],
            "total": time.perf_counter() - self.began,
        }
