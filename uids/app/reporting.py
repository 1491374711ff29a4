"""A finished run or sweep to the chosen reporter: what is told may fail, what was done is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from uids.app.stopping import raise_if_stopped
from uids.app.terminal import complain
from uids.errors import UidsError
from uids.report.reporters import AdoptedReporter


def report_run(reporter: AdoptedReporter | None, folder: Path) -> None:
    if reporter is not None:
        from uids.report.run import read_metrics  # imports arrow

        whole = folder.absolute()
        attempt(lambda: reporter.report(whole, read_metrics(whole)), whole)


def report_sweep(reporter: AdoptedReporter | None, folder: Path, runs: Sequence[str]) -> None:
    """``runs`` are the names of its runs' folders."""
    if reporter is not None:
        from uids.report.run import read_metrics  # imports arrow

        whole = folder.absolute()
        told = [(whole / run, read_metrics(whole / run)) for run in runs]
        attempt(lambda: reporter.report_sweep(whole, told), whole)


def attempt(tell: Callable[[], None], folder: Path) -> None:
    try:
        tell()
    except UidsError as error:
        raise_if_stopped()
        complain(f"uids: not reported, but all files are in {folder}: {error}")
