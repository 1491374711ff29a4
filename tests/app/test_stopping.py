"""Signals end a command soon, in one line, whatever the main thread is at."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from uids.app.stopping import Stopped, last_words, stoppable

# Machine code that nothing interrupts, for about a minute.
STUCK = """
import hashlib, os, signal, sys, threading
from pathlib import Path
from uids.app.cli import main
from uids.app import cli
from uids.app.stopping import last_words
from uids.system.files import replacing

def stuck(arguments):
    with last_words(lambda: print("2 of 8 done", flush=True)), replacing(Path("half.txt")):
        threading.Timer(0.1, os.kill, (os.getpid(), int(sys.argv[1]))).start()
        hashlib.pbkdf2_hmac("sha256", b"", b"", 10**8)

cli.started = stuck
signal.signal(int(sys.argv[1]), signal.SIG_DFL)  # whatever the tests were started with
sys.exit(main(["-m"]))
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_machine_code_does_not_keep_a_command(name, tmp_path):
    number = getattr(signal, name)
    ended = subprocess.run(
        [sys.executable, "-c", STUCK, str(int(number))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    said = "interrupted" if name == "SIGINT" else f"ended by {name}"
    assert ended.returncode == 128 + number, ended.stderr
    assert ended.stdout == (f"2 of 8 done\n{said}; start it again to continue where it left off\n")
    assert ended.stderr == ""
    assert os.listdir(tmp_path) == []


def test_handlers_are_as_before_afterwards():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    threads = threading.active_count()
    with stoppable(""):
        assert signal.getsignal(signal.SIGTERM) != before[1]
    after = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert after == before
    assert threading.active_count() == threads


def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stoppable(""):
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_that_comes_twice_is_one():
    """As the command timeout sends it: to the process, and to its group."""
    spoken = []

    def speak():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)
        spoken.append("done")

    def stopped_at_work():
        with stoppable(""), last_words(speak):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)

    with pytest.raises(Stopped) as stopped:
        stopped_at_work()
    assert spoken == ["done"]
    assert stopped.value.code == 143


def test_an_error_in_place_of_it_is_taken_for_what_it_is():
    """Libraries tidy up in ways that fail where a signal has come before there was anything."""

    def interrupted_library():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
            file = None
        finally:
            file.close()

    with pytest.raises(Stopped) as stopped, stoppable(""):
        interrupted_library()
    assert stopped.value.code == 143
    with pytest.raises(ZeroDivisionError), stoppable(""):
        _ = 1 / 0


def test_other_threads_have_no_signals():
    errors = []

    def work():
        try:
            with stoppable(""):
                pass
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not errors
