"""A process that belongs to another ends with it, and puts nothing in its place afterwards."""

import os
import signal
import subprocess
import sys
import time

import pytest

from uids.system import owner, unfinished
from uids.system.processes import is_alive

CHILD = """
import os, sys, time
from pathlib import Path
from uids.system.files import write_text
from uids.system.owner import belong_to
belong_to(int(sys.argv[1]))
for k in range(10**9):
    write_text(Path(sys.argv[2]) / "file", str(k))
"""
PARENT = """
import os, subprocess, sys
script, folder, direct = sys.argv[1:]
words = [sys.executable, "-c", script, str(os.getpid()), folder]
if direct == "no":
    words = ["sh", "-c", '"$@" & wait', "sh", *words]
process = subprocess.Popen(words)
process.wait()
"""


def wait_until(holds):
    limit = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.01)


def writers(folder):
    listed = subprocess.run(["ps", "-eo", "stat=,args="], capture_output=True, text=True).stdout
    lines = [line for line in listed.splitlines() if line.endswith(str(folder))]
    return [line for line in lines if not line.startswith("Z") and "belong_to" in line]


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("direct", ["yes", "no"])
def test_it_ends_with_its_owner(direct, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", PARENT, CHILD, str(tmp_path), direct]
    parent = subprocess.Popen(words, env=environment)
    wait_until((tmp_path / "file").exists)
    os.kill(parent.pid, signal.SIGKILL)
    if direct == "yes":
        parent.wait()  # else nobody asks how it has ended: it is a zombie meanwhile
    else:
        time.sleep(0.05)
        assert not is_alive(parent.pid)
    wait_until(lambda: len(os.listdir(tmp_path)) <= 1 and not writers(tmp_path))
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text().isdigit()
    parent.wait()


def test_a_process_of_its_own_never_ends(monkeypatch):
    monkeypatch.setattr(owner, "_owner", None)
    owner.end_without_owner()
    assert is_alive(os.getpid())


def test_leftovers_are_those_of_processes_that_are_no_more(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    mine = unfinished.begin(tmp_path, "a", ".csv")
    mine.write_text("half")
    left = tmp_path / mine.name.replace(f"-{os.getpid()}-", f"-{ended.pid}-")
    left.write_text("half")
    elsewhere = tmp_path / f".a-unfinished-elsewhere.org-{ended.pid}-12ab.csv"
    elsewhere.write_text("half")
    named = [".a-unfinished.csv", "a-unfinished-x-1-2", ".a-1-2.csv"]
    for name in named:
        (tmp_path / name).write_text("somebody else's")
    unfinished.remove_leftovers([tmp_path, tmp_path / "missing"])
    assert sorted(os.listdir(tmp_path)) == sorted([mine.name, elsewhere.name, *named])
    for name in os.listdir(tmp_path):
        os.utime(tmp_path / name, (0, 0))
    unfinished.remove_leftovers([tmp_path])
    assert sorted(os.listdir(tmp_path)) == sorted(named)
    unfinished.end(mine)


def test_a_process_about_to_end_removes_its_own_alone(tmp_path):
    file, folder = unfinished.begin(tmp_path, "a"), unfinished.begin(tmp_path, "b")
    file.write_text("half")
    folder.mkdir()
    (folder / "c").write_text("half")
    (tmp_path / "whole").write_text("whole")
    unfinished.end_all()
    assert os.listdir(tmp_path) == ["whole"]
