"""``metrics.json`` of a run: written where it failed, read and looked at. Imports nothing that
takes long: a sweep with nothing left to do reads these and no more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from uids.errors import UidsError, one_line
from uids.pipeline.metrics import FailedRun, Metrics, NoRun
from uids.report.shape import fits
from uids.system.files import write_json

METRICS = "metrics.json"
REASON = 150  # characters that are shown of what is wrong with a damaged file


def write_failure(folder: Path, config: object, reason: str) -> None:
    """A failed run is on record too. ``config`` is what was composed of it, if anything was."""
    failed = FailedRun(
        schema=1,
        status="failed",
        error=reason,
        config=config if isinstance(config, dict) else {},
    )
    write_json(folder / METRICS, failed)


def read_metrics(folder: Path) -> Metrics | FailedRun | NoRun:
    """The metrics of a run, told apart by their ``status``. What cannot be read, or lacks a key
    that every run has, is as good as missing: a file may come from anywhere, and behind this door
    it is taken for what its type says."""
    try:
        content = json.loads((folder / METRICS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        return NoRun(status="missing")
    if content.get("status") == "ok" and Metrics.__required_keys__ <= content.keys():
        return cast(Metrics, content) if fits(content, Metrics) else NoRun(status="missing")
    if content.get("status") == "failed":
        reason, config = content.get("error", "no reason given"), content.get("config")
        known = config if isinstance(config, dict) else {}
        return FailedRun(schema=1, status="failed", error=str(reason), config=known)
    return NoRun(status="missing")


@contextmanager
def whole_or_damaged(path: Path) -> Iterator[None]:
    """What is raised by values that no run writes is told as the damage of a file."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        reason = f"{type(error).__name__}: {one_line(error)[:REASON]}"
        raise UidsError(f"{path} is damaged ({reason}): start the run again") from error


def file_format(metrics: Metrics) -> str:
    """Of the training files; of a run before this was written the name of its data set tells."""
    return metrics["dataset"].get("file_format", str(metrics["config"]["dataset"]["name"]))
