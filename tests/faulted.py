"""Commands with a fault at a seeded moment: a signal, a disk that is full, a folder to read only.

``python tests/faulted.py`` is a process that has imported everything; for each line of JSON on
stdin it forks a child that runs one command with one fault, and answers with how it ended. So a
command costs some tenths of a second. Moments are counted in file operations below the folder of
the case, which an audit hook of Python's sees: the same moment every time, on any machine.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir")


@dataclass(frozen=True)
class Fault:
    """What happens at the moment ``at``, counted from 1; 0: never."""

    at: int = 0
    signal: int = 0  # is sent to the process
    errno: int = 0  # or: from then on nothing can be made below the folder ``below``
    below: str = ""
    seconds: float = 0.0  # or: the signal is sent after so many of them
    largest: int = 0  # or: no file can have more bytes


@dataclass(frozen=True)
class Ended:
    code: int  # of a signal −number, as subprocess has it
    shown: str  # stdout and stderr
    moments: int  # that there were


class Runner:
    """The process that forks, seen from the tests."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, folder: Path, *words: str, fault: Fault | None = None) -> Ended:
        return self.run_together(folder, [list(words)], fault)[0]

    def run_together(
        self, folder: Path, commands: list[list[str]], fault: Fault | None = None
    ) -> list[Ended]:
        """Several commands at once in one folder."""
        case = {"folder": str(folder), "commands": commands, "fault": asdict(fault or Fault())}
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        return [Ended(**ended) for ended in json.loads(self.process.stdout.readline())]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def moments_of(folder: str, fault: Fault, counter: mmap.mmap):
    """The audit hook: counts, and does what is to happen."""
    inside = threading.local()
    below = fault.below or folder

    def hook(event: str, arguments: tuple) -> None:
        if event == "open":
            path, _, flags = arguments
            changes = isinstance(flags, int) and flags & WRITES
        else:
            path, changes = (arguments[0] if arguments else None), event in CHANGES
        if not changes or getattr(inside, "it", False) or not isinstance(path, str | os.PathLike):
            return
        inside.it = True
        try:
            place = os.path.abspath(path)
            if not place.startswith(folder):
                return
            now = struct.unpack("q", counter[:8])[0] + 1
            counter[:8] = struct.pack("q", now)
            if fault.signal and now == fault.at:
                os.kill(os.getpid(), fault.signal)
            full = fault.errno and fault.at and now >= fault.at and event != "os.remove"
            if full and event != "os.rmdir" and place.startswith(below):
                raise OSError(fault.errno, os.strerror(fault.errno), str(path))
        finally:
            inside.it = False

    return hook


def child(folder: str, words: list[str], fault: Fault, counter: mmap.mmap) -> int:
    from hydra.core.global_hydra import GlobalHydra

    from uids.app import cli

    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = str(Path(folder, "cache"))
    GlobalHydra.instance().clear()
    if fault.largest:
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault.largest, resource.RLIM_INFINITY))
    if fault.seconds:
        timer = threading.Timer(fault.seconds, os.kill, (os.getpid(), fault.signal))
        cli.started = with_timer(cli.started, timer)
    sys.addaudithook(moments_of(folder, fault, counter))
    return cli.main(words)


def with_timer(started, timer: threading.Timer):
    """``uids.app.cli.started``, in which alone the timer is on."""
    timer.daemon = True

    def timed(arguments: list[str]) -> int:
        timer.start()
        try:
            return started(arguments)
        finally:
            timer.cancel()

    return timed


def forked(folder: str, words: list[str], fault: Fault, counter: mmap.mmap, output: int) -> int:
    process = os.fork()
    if process == 0:
        code = 70
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.dup2(output, 1)
            os.dup2(output, 2)
            code = child(folder, words, fault, counter)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    return process


def serve(answers: int) -> None:
    counter = mmap.mmap(-1, 8)
    for line in sys.stdin:
        case = json.loads(line)
        counter[:8] = struct.pack("q", 0)
        started = []
        for words in case["commands"]:
            # No file: its size would be limited too. What a command shows fits into a pipe.
            shown, output = os.pipe()
            process = forked(case["folder"], words, Fault(**case["fault"]), counter, output)
            os.close(output)
            started.append((process, shown))
        ended = []
        for process, shown in started:
            with open(shown, "rb") as file:
                text = file.read().decode(errors="replace")
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            ended.append(asdict(Ended(code, text, struct.unpack("q", counter[:8])[0])))
        os.write(answers, (json.dumps(ended) + "\n").encode())


def warm() -> None:
    """Everything that a command imports or compiles, done once. Figures are not drawn afterwards:
    half of the time of a small run, and of no matter here."""
    from uids.app.cli import main
    from uids.report import figures

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = folder
        rows = (f"{i % 2} 1:{i % 7} 2:{i % 5}" for i in range(60))
        Path("rows.svm").write_text("\n".join(rows))
        words = ["dataset=libsvm", "dataset.train=rows.svm", "repeats=1"]
        assert main(["repeats=1"]) == 0
        assert main(words) == 0
        assert main([*words, "-m"]) == 0
        os.chdir("/")
    figures.png = lambda figure: b"a figure"


if __name__ == "__main__":
    replies = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warm()
    serve(replies)
    os._exit(0)  # without waiting for threads that a fork may have left at odds
