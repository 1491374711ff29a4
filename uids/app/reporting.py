"""A finished run or sweep to the chosen reporter: what is told may fail, what was done is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from uids.app.stopping import raise_if_stopped
from uids.app.terminal import complain
from uids.errors import UidsError
from uids.report.metrics_file import read_metrics
from uids.report.reporters import AdoptedReporter


@contextmanager
def told(folder: Path) -> Iterator[Callable[[AdoptedReporter | None], None]]:
    """The run within, whatever becomes of it, is handed on to the reporter that is given."""
    chosen: list[AdoptedReporter | None] = []
    try:
        yield chosen.append
    except Exception:
        report_run(chosen, folder)
        raise
    report_run(chosen, folder)


def report_run(chosen: Sequence[AdoptedReporter | None], folder: Path) -> None:
    whole = folder.absolute()
    for reporter in chosen:
        if reporter is not None:
            attempt(partial(report_one, reporter, whole), whole)


def report_one(reporter: AdoptedReporter, folder: Path) -> None:
    reporter.report(folder, read_metrics(folder))


def report_sweep(reporter: AdoptedReporter | None, folder: Path, runs: Sequence[str]) -> None:
    """``runs`` are the names of its runs' folders."""
    if reporter is not None:
        whole = folder.absolute()
        runs_told = [(whole / run, read_metrics(whole / run)) for run in runs]
        attempt(lambda: reporter.report_sweep(whole, runs_told), whole)


def attempt(tell: Callable[[], None], folder: Path) -> None:
    try:
        tell()
    except UidsError as error:
        raise_if_stopped()
        complain(f"uids: not reported, but all files are in {folder}: {error}")
