"""The bar on the terminal shows whatever is told, and nothing where nobody looks."""

import io
import logging
import re
import sys
import threading
from types import SimpleNamespace

import pytest

import uids
from uids.app.progress import in_notebook, progress_bar, progress_line, progress_shown
from uids.app.stage_log import stages_logged
from uids.app.sweep.points import plan
from uids.pipeline.clock import STAGES
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


class Heard(io.StringIO):
    """Not a terminal; it can be waited for that something is written to it."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def flush(self):
        if self.getvalue():
            self.written.set()


def test_long_work_in_a_log_has_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Heard())
    with progress_shown(interval=0.01):
        tell("refit", 3, 10)
        # The work itself says no more: the line comes all the same.
        assert sys.stderr.written.wait(timeout=60)
    lines = sys.stderr.getvalue().splitlines()
    assert all(re.fullmatch(r"uids: refit 3/10, \d+ s", line) for line in lines)
    assert "\r" not in sys.stderr.getvalue()
    assert not any(thread.name == "uids-progress" for thread in threading.enumerate())


def test_what_a_line_in_a_log_says():
    assert progress_line("fit", 0, 1, 12.3) == "uids: fit, 12 s"
    assert progress_line("newton", 1200, 5000, 200.0) == "uids: newton 1,200/5,000, 200 s"


@pytest.mark.parametrize("call", ["run", "influence"])
def test_python_shows_progress_only_where_it_is_asked_for(monkeypatch, call):
    screen = terminal(monkeypatch)
    # As if the fit took long: only long work within a stage speaks up.
    monkeypatch.setattr(progress, "SILENT", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    X = [[float(i % 7), float(i % 3)] for i in range(60)]
    y = [int(i % 7 > i % 4) for i in range(60)]
    work = {
        "run": lambda **words: uids.run(repeats=1, **words),
        "influence": lambda **words: uids.influence("logreg", (X, y), (X, y), **words),
    }[call]
    for silent in (None, False):
        work(progress=silent)
        assert screen.getvalue() == ""
    heard = []
    work(progress=lambda *word: heard.append(word))
    assert screen.getvalue() == ""
    work(progress=True)
    assert heard
    assert heard[-1][0] in screen.getvalue()
    assert screen.getvalue().endswith("\r")
    with pytest.raises(uids.UidsError, match="progress must be True, False or a function"):
        work(progress="yes")


def test_a_notebook_has_a_bar_though_its_stderr_is_no_terminal(monkeypatch, capsys):
    assert not in_notebook()
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert in_notebook()
    with progress_shown(interval=3600):
        tell("load", 0, 1)
        tell("refit", 3, 10)
    shown = capsys.readouterr().err
    assert "refit" in shown
    assert "3/10" in shown


def test_a_shell_that_is_no_notebook_has_none(monkeypatch):
    for shell in (None, SimpleNamespace(config={})):
        fake = SimpleNamespace(get_ipython=lambda shell=shell: shell)
        monkeypatch.setitem(sys.modules, "IPython", fake)
        assert not in_notebook()


def test_the_log_of_a_run_has_its_stages_and_their_times(cli, tmp_path):
    code, _, _ = cli("repeats=2")
    assert code == 0
    [path] = tmp_path.glob("outputs/*/*/uids.log")
    lines = path.read_text().splitlines()
    for stage in set(STAGES) - {"choose"}:
        assert any(line.endswith(f" s: {stage}") or f" s: {stage} " in line for line in lines)
    assert re.search(r"done: load [\d.]+ s, fit [\d.]+ s, .*total [\d.]+ s$", lines[-1])


def test_work_within_a_stage_is_logged_only_when_it_takes_long(caplog):
    log = logging.getLogger("uids-test")
    with caplog.at_level(logging.INFO, "uids-test"):
        heard = []
        with progress.listening(lambda *word: heard.append(word)), stages_logged(log, 3600.0):
            for done in range(3):
                tell("newton", done, 3)
                tell("fit", done, 3)
        with stages_logged(log, 0.0):
            tell("newton", 2, 3)
    said = [record.getMessage().partition(": ")[2] for record in caplog.records]
    assert said == ["fit 0/3", "newton 2/3"]
    assert len(heard) == 6  # whoever listened before still hears all of it
