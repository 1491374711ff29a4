"""The bar on the terminal shows whatever is told, and nothing where nobody looks."""

import io
import sys

import pytest

import uids
from uids.app.progress import progress_bar, progress_shown
from uids.app.sweep.points import plan
from uids.system import progress
from uids.system.progress import tell


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal(monkeypatch):
    """In the test itself: pytest sets stderr anew between a fixture and its test."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr


def test_a_bar_names_the_work_and_goes_at_the_end(monkeypatch):
    screen = terminal(monkeypatch)
    with progress_bar():
        assert screen.getvalue() == ""  # nothing is told yet
        tell("newton", 3, 10)
    shown = screen.getvalue()
    assert "newton" in shown
    assert "3/10" in shown
    assert shown.endswith("\r")
    tell("newton", 4, 10)
    assert screen.getvalue() == shown


def test_it_is_quiet_about_short_work_without_a_terminal(capsys):
    with progress_shown(interval=3600):
        tell("newton", 3, 10)
    assert capsys.readouterr() == ("", "")


def test_it_goes_when_the_work_fails(monkeypatch):
    screen = terminal(monkeypatch)

    def fail():
        with progress_bar():
            tell("fit", 0, 1)
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert screen.getvalue().endswith("\r")


def test_the_stages_of_a_run_are_shown(monkeypatch):
    screen = terminal(monkeypatch)
    with progress_bar():
        uids.run(repeats=1)
    for stage in ("load", "fit", "influence", "sample", "refit", "evaluate"):
        assert stage in screen.getvalue()


def test_the_planning_of_a_sweep_is_told(monkeypatch):
    from hydra.types import RunMode

    from uids.app.compose import composing, load_trusted
    from uids.app.hydra_source import register

    register()
    monkeypatch.setattr(progress, "SILENT", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    heard = []
    words = ["seed=0,1,2"]
    with composing() as loader, progress.listening(lambda *word: heard.append(word)):
        plan(loader, load_trusted(loader, words, RunMode.MULTIRUN), words)
    assert heard == [("planning", 0, 3), ("planning", 1, 3), ("planning", 2, 3)]
