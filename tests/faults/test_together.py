"""Two to four commands at once in one folder agree, and get in nobody's way."""

import random

import pytest

from .conftest import COMMANDS, SEEDS, results, unfinished


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_at_once_in_one_folder(runner, undisturbed, work, command, tally):
    expected, _ = undisturbed(command)
    chance = random.Random(command)
    for seed in range(max(1, SEEDS // 2)):
        folder = work(seed)
        together = runner.run_together(folder, [list(COMMANDS[command])] * chance.randint(2, 4))
        assert [ended.code for ended in together] == [0] * len(together), together
        assert not any("damaged" in ended.shown for ended in together)
        assert results(folder) == expected
        assert not unfinished(folder)
        tally("commands at once in one folder", command.split()[0], len(together))
