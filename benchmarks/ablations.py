"""Ablations and first seconds: what a sweep takes beyond its runs, and a command before its work.

Each figure is that of processes of their own, in seconds of the processor (all threads and
children) and of the clock, in a folder and a cache of their own. Their bytecode is kept there too,
as that of an installed package is, whatever the environment says.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

# The runs of the sweep one after the other, from Python; the seconds of the processor that each
# takes when the code is loaded and the fit is in the cache.
LOOP = """
import sys, time, uids
points = [(a, r / 100) for a in range(1, {alphas} + 1) for r in range(50, 50 + {ratios})]
def run(alpha, ratio):
    uids.run(sampler=dict(name="sigmoid", alpha=float(alpha)), ratio=ratio, repeats=1)
run(*points[0])
began = time.process_time()
for point in points:
    run(*point)
print((time.process_time() - began) / len(points))
"""
# The plan of a sweep alone, the same.
PLAN = """
import time
from hydra.types import RunMode
from uids.app.compose import composing, load_trusted
from uids.app.hydra_source import register
from uids.app.sweep.points import plan
register()
words = ["sampler.alpha=range(1,{end})", "ratio=range(0.5,0.745,0.01)", "repeats=1"]
with composing() as loader:
    config = load_trusted(loader, words, RunMode.MULTIRUN)
    began = time.process_time()
    count = len(plan(loader, config, words))
    print(count, time.process_time() - began)
"""


def timed(folder: Path, *words: str) -> tuple[float, float, str]:
    """Seconds of the processor and of the clock, and what was printed."""
    folder.mkdir(parents=True, exist_ok=True)
    caches = {"XDG_CACHE_HOME": "cache", "PYTHONPYCACHEPREFIX": "bytecode"}
    environment = {**os.environ, **{name: str(folder / at) for name, at in caches.items()}}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, done.stdout


def ablations(bench: Any) -> None:
    """A sweep against a loop over ``uids.run``, its plan, and the same sweep again."""
    alphas, ratios = (2, 2) if bench.quick else (10, 10)
    count, folder = alphas * ratios, bench.folder / "ablations"
    bench.section(f"s. Ablations: {count} points, breast_cancer, repeats=1; processor seconds")
    last = f"{0.5 + 0.01 * (ratios - 0.5):.3f}"
    axes = (f"sampler.alpha=range(1,{alphas + 1})", f"ratio=range(0.5,{last},0.01)", "repeats=1")
    one = ("sampler.alpha=1", "ratio=0.5", "repeats=1", "hydra.sweep.dir=outputs/one")
    uids = ("-m", "uids", "-m")
    timed(folder, *uids, *one)  # compiles, fits
    alone = float(timed(folder, "-c", LOOP.format(alphas=alphas, ratios=ratios))[2])
    first = timed(folder, *uids, *one, "cache=false")[0]
    whole = timed(folder, *uids, *axes)[0]
    again = timed(folder, *uids, *axes)[0]
    end = 5 if bench.quick else 41  # of α; times 25 ratios
    planned = timed(folder, "-c", PLAN.format(end=end))[2].split()
    point = (whole - first) / (count - 1)
    bench.say(
        "",
        "| | processor s | beside the run itself |",
        "|---|---|---|",
        f"| a run in a loop over `uids.run` | {alone:.3f} | 1 |",
        f"| a point of the sweep, beyond its first | {point:.3f} | {point / alone:.1f} × |",
        f"| the whole sweep | {whole:.1f} | |",
        f"| the same with nothing left to do | {again:.1f} | |",
        f"| {planned[0]} points planned | {float(planned[1]):.1f} | |",
    )
    bench.save()


def first_seconds(bench: Any) -> None:
    """From the command to its end, when the caches are warm: the best of three."""
    folder = bench.folder / "first"
    bench.section("t. First seconds: the best of three, caches warm")
    bench.say("", "| | processor s | clock s |", "|---|---|---|")
    for name, words in {
        "`uids --help`": ("--help",),
        "an unknown field": ("sampler.alfa=1",),
        "a value out of range": ("sampler.alpha=-1",),
        "the default run": (),
    }.items():
        timed(folder, "-m", "uids", *words)
        runs = [timed(folder, "-m", "uids", *words) for _ in range(3)]
        cpu, wall = (min(run[k] for run in runs) for k in (0, 1))
        bench.say(f"| {name} | {cpu:.2f} | {wall:.2f} |")
    bench.save()
