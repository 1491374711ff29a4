"""The door of the reporters: from a reporter of anyone's to one that takes the blame for itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from uids.registry import Chosen, ask
from uids.report.reporters.reporter import Told


@dataclass(frozen=True)
class AdoptedReporter:
    """A chosen reporter. What it raises is a ``UidsError`` that names its package."""

    chosen: Chosen

    def report(self, folder: Path, metrics: Told) -> None:
        with self.chosen.blame:
            self.chosen.component.report(folder, metrics)

    def report_sweep(self, folder: Path, runs: Sequence[tuple[Path, Told]]) -> None:
        """Nothing, where it knows no sweeps."""
        ask(self.chosen.component, "report_sweep", self.chosen.blame, lambda *_: None, folder, runs)
