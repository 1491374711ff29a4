"""How a contestant is measured: a process of its own, seconds of the clock and of the processor,
and peak memory. Imports nothing of uids: the peers' environments use it too.

A contestant is a function of a problem's folder that prepares (reads, converts, builds) and hands
back ``call(setting)`` and the settings to try, loosest first. The first setting whose answer is
within ERROR of the reference is the one that is timed; trying them is the warm-up. They are tried
one after the other, or by bisection where each is at least as accurate as the one before it.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ERROR = 1e-5  # max|Δφ| / max|φ|
Call = Callable[[Any], Any]
Contestant = Callable[[Path], tuple[Call, Sequence[Any]]]


def peak() -> int:
    """Bytes of memory that this process has held at most. (ru_maxrss begins at its parent's.)"""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def once(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """(result, seconds of the clock, seconds of the processor over all threads)."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def best(work: Callable[[], Any], seconds: float, most: int = 20) -> dict[str, float]:
    """The least of both over as many runs as fit into ``seconds``; three at least, unless one
    alone takes longer than all of it."""
    walls, cpus = [], []
    began = time.perf_counter()
    while len(walls) < most:
        _, wall, cpu = once(work)
        walls.append(wall)
        cpus.append(cpu)
        spent = time.perf_counter() - began
        if spent > seconds and (len(walls) >= 3 or wall > seconds / 2):
            break
    return {"wall": min(walls), "cpu": min(cpus), "runs": len(walls)}


def main(contestants: dict[str, Contestant], ordered: bool) -> None:
    """script FOLDER NAME SECONDS: prints one line of JSON, and writes φ to FOLDER/NAME.npy.
    ``ordered``: settings are tried by bisection."""
    folder, name, seconds = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    call, settings = contestants[name](folder)
    few = folder / f"{name} settings.json"  # where a try takes minutes
    if few.exists():
        settings = json.loads(few.read_text())
    at_start = peak()
    reference = folder / "reference.npy"
    truth = np.load(reference) if reference.exists() else None

    def tried(setting: Any) -> dict[str, Any]:
        found, wall, cpu = once(lambda: call(setting))
        phi = np.asarray(found, dtype=np.float64)
        np.save(folder / f"{name}.npy", phi)
        error = None
        if truth is not None and len(truth) == len(phi):
            error = float(np.abs(phi - truth).max() / np.abs(truth).max())
        return {"setting": setting, "error": error, "wall": wall, "cpu": cpu, "runs": 1.0}

    told = chosen(tried, settings, ordered)
    if seconds > 0:  # else one run must do: it takes minutes, beside which loading code is nothing
        told |= best(lambda: call(told["setting"]), seconds)
    memory = {"peak": peak(), "beside": peak() - at_start}
    print(json.dumps({"name": name, **told, **memory}))


def chosen(tried: Any, settings: Sequence[Any], ordered: bool) -> dict[str, Any]:
    """What ``tried`` tells of the first setting that is accurate enough, or of the last."""
    if not ordered:
        for setting in settings:
            told = tried(setting)
            if told["error"] is None or told["error"] <= ERROR:
                break
        return dict(told)
    low, high, known = 0, len(settings) - 1, {}
    while low < high:
        middle = (low + high) // 2
        known[middle] = told = tried(settings[middle])
        if told["error"] is None or told["error"] <= ERROR:
            high = middle
        else:
            low = middle + 1
    return dict(known[low] if low in known else tried(settings[low]))
