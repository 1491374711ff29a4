"""A command that is ended at any moment: what is finished is whole, and nothing else stays."""

import random
import signal

import pytest
from faulted import Fault

from .conftest import COMMANDS, LONG, SEEDS, moments, results, unfinished

SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
SAID = {"SIGTERM": "ended by SIGTERM", "SIGINT": "interrupted"}


def stopped_as_it_should(ended, name, command):
    """With its exit code, in one line beside the table of a sweep."""
    assert ended.code == (-SIGNALS[name] if name == "SIGKILL" else 128 + SIGNALS[name]), ended.shown
    assert "Traceback" not in ended.shown
    assert "Exception ignored" not in ended.shown
    if name in SAID:
        *_, last = ended.shown.splitlines()
        again = (
            "; start it again to continue where it left off" if "-m" in COMMANDS[command] else ""
        )
        assert last == SAID[name] + again


def whole_and_done_again(runner, folder, command, expected, name):
    """What was finished is as it would have been; done again it is all of it, and nothing else is
    there: also of what a kill has left."""
    finished = results(folder)
    assert finished.items() <= expected.items()
    if name != "SIGKILL":
        assert not unfinished(folder)
        summary = folder / "outputs" / "sweep" / "summary.csv"
        assert summary.exists() or not finished or "-m" not in COMMANDS[command]
    again = runner.run(folder, *COMMANDS[command])
    assert again.code == 0, again.shown
    assert "is damaged" not in again.shown
    assert results(folder) == expected
    assert not unfinished(folder)


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_while_files_are_written(runner, undisturbed, work, command, name, tally):
    expected, total = undisturbed(command)
    for moment in moments(command, name, SEEDS, total):
        folder = work(moment)
        fault = Fault(at=moment, signal=SIGNALS[name])
        ended = runner.run(folder, *COMMANDS[command], fault=fault)
        stopped_as_it_should(ended, name, command)
        whole_and_done_again(runner, folder, command, expected, name)
        tally(f"{name} while files are written", command.split()[0])


@pytest.mark.skipif(not LONG, reason="by the clock, not by seeded moments: make soak does it")
@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_at_any_time(runner, undisturbed, work, name, tally):
    expected, _ = undisturbed("sweep")
    chance = random.Random(name)
    for seed in range(SEEDS):
        folder = work(seed)
        fault = Fault(signal=SIGNALS[name], seconds=chance.uniform(0.01, 0.5))
        ended = runner.run(folder, *COMMANDS["sweep"], fault=fault)
        if ended.code != 0:  # else it was quicker
            stopped_as_it_should(ended, name, "sweep")
        whole_and_done_again(runner, folder, "sweep", expected, name)
        tally(f"{name} at any time", "sweep")
