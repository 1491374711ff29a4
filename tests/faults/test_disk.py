"""Disks that are full and folders that can only be read: one line, and nothing half-written."""

import errno
import os
import random
import shutil
import subprocess
import sys

import pytest
from faulted import Fault

from .conftest import COMMANDS, SEEDS, moments, results, unfinished


def told_or_done(ended, folder, expected, reason):
    """Either all went well, or it is told in one line for each run, with the reason."""
    assert "Traceback" not in ended.shown
    assert ended.code in (0, 1), ended.shown
    if ended.code == 0:
        assert results(folder) == expected
        return "done"
    assert results(folder).items() <= expected.items()
    told = [line for line in ended.shown.splitlines() if line.startswith(("uids: ", "failed: "))]
    assert any(reason in line for line in told), ended.shown
    return "told"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_disk_that_is_full_from_some_moment_on(runner, undisturbed, work, command, tally):
    expected, total = undisturbed(command)
    for moment in moments(command, "full", SEEDS, total):
        folder = work(moment)
        fault = Fault(at=moment, errno=errno.ENOSPC)
        ended = runner.run(folder, *COMMANDS[command], fault=fault)
        how = told_or_done(ended, folder, expected, os.strerror(errno.ENOSPC))
        assert not unfinished(folder)
        assert runner.run(folder, *COMMANDS[command]).code == 0
        assert results(folder) == expected
        tally("a disk that is full", how)


@pytest.mark.parametrize("command", COMMANDS)
def test_files_that_cannot_grow(runner, undisturbed, work, command, tally):
    """In the middle of any write, whoever makes it."""
    expected, _ = undisturbed(command)
    chance = random.Random(command)
    for seed in range(SEEDS):
        folder = work(seed)
        fault = Fault(largest=int(10 ** chance.uniform(2, 4)))
        ended = runner.run(folder, *COMMANDS[command], fault=fault)
        how = told_or_done(ended, folder, expected, os.strerror(errno.EFBIG))
        assert not unfinished(folder)
        assert runner.run(folder, *COMMANDS[command]).code == 0
        assert results(folder) == expected
        tally("a write that fails in its middle", how)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_for_results_that_can_only_be_read(runner, undisturbed, work, command, tally):
    expected, _ = undisturbed(command)
    folder = work("only")
    for place in ("out", "outputs"):
        (folder / place).mkdir()
    fault = Fault(at=1, errno=errno.EROFS, below=str(folder / "out"))
    ended = runner.run(folder, *COMMANDS[command], fault=fault)
    assert told_or_done(ended, folder, expected, os.strerror(errno.EROFS)) == "told"
    assert not results(folder)
    assert not unfinished(folder)
    tally("a folder for results that can only be read", "told")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_cache_that_can_only_be_read(runner, undisturbed, work, command, tally):
    expected, _ = undisturbed(command)
    folder = work("cache")
    fault = Fault(at=1, errno=errno.EROFS, below=str(folder / "cache"))
    ended = runner.run(folder, *COMMANDS[command], fault=fault)
    assert ended.code == 0, ended.shown
    assert ("read without a cache" in ended.shown) == (command != "run")
    assert results(folder) == expected
    assert not (folder / "cache").exists()
    tally("a cache that can only be read", "done")


def test_a_disk_that_is_really_full(tmp_path, tally):
    """A file system of 100 KB, in a name space of its own, which goes with the process."""
    if not shutil.which("unshare"):
        pytest.skip("needs unshare")
    script = (
        'mount -t tmpfs -o size=100k none "$1" || exit 77; cd "$1"; '
        '"$2" -m uids repeats=1 hydra.run.dir=out; code=$?; '
        'find . -name ".*-unfinished-*"; exit $code'
    )
    place = tmp_path / "small"
    place.mkdir()
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", str(place), sys.executable],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    if ended.returncode == 77 or "unshare" in ended.stderr:
        pytest.skip("no right to mount")
    assert (ended.returncode, ended.stdout) == (1, ""), ended.stderr
    *stages, last = ended.stderr.splitlines()  # on a slow machine the stages are told
    assert last.startswith(f"uids: cannot use '{place}/out/"), ended.stderr
    assert last.endswith("No space left on device")
    assert "Traceback" not in " ".join(stages)
    tally("a disk that is full", "told")
