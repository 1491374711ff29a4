"""What a reporter is, to whoever writes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

Told = Mapping[str, Any]  # what ``metrics.json`` of a run holds


class Reporter(Protocol):
    """Told of each run of the command once all its files are written; of a point of a sweep that is
    in the process that ran it."""

    def report(self, folder: Path, metrics: Told, /) -> object:
        """``metrics`` is what ``folder / "metrics.json"`` holds. Its "status" is "ok", or "failed",
        and then it has the "error" and, as far as that was known, the "config"."""


class SweepReporter(Reporter, Protocol):
    """Also told of a sweep as a whole."""

    def report_sweep(self, folder: Path, runs: Sequence[tuple[Path, Told]], /) -> object:
        """Once, when ``summary.csv``, ``summary.md`` and ``report.html`` are in ``folder``.
        ``runs`` are the folder and the metrics of each of its points, those among them that were
        done by an earlier command, of which ``report`` may not have been told."""
