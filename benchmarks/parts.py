"""The parts of the table."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import problems
from ablations import ablations, first_seconds
from classes import many_classes
from networks import networks

OURS = ("uids", "uids.influence")
CLICKS = ("criteo1%", "avazu_app", "avazu_site")
SHAPES = ("news20", "covtype", *CLICKS)  # of part d


def dense(
    bench: Any,
    letter: str,
    name: str,
    contestants: tuple[str, ...],
    threads: int = 1,
    settings: dict[str, list[Any]] | None = None,
) -> None:
    """φ at θ̂; everyone on as many cores. ``settings``: all that some are tried with."""
    place = bench.problem(name)
    for who, few in (settings or {}).items():
        (place / f"{who} settings.json").write_text(json.dumps(few))
    cores = "one core" if threads == 1 else f"{threads} cores"
    bench.section(f"{letter}. φ, {name}, {cores}; ratios to uids")
    about = json.loads((place / "about.json").read_text())
    bench.say("", f"{about.get('source', 'Generated')}; C = {about['C']}.")
    failed = bench.prepare(place)
    if failed:
        bench.say(str(failed))
        return
    bench.table(bench.run(place, who, threads, timeout=400) for who in contestants)
    bench.save()


def sparse(bench: Any) -> None:
    """On one core, and on two, of which scipy uses one; and a click log of middle size."""
    theirs = ("scipy PCG", "scipy PCG float64", "scipy PCG, M of uids")
    for threads in (1, 2):
        dense(bench, "c", "sparse 50,000 × 200,000", (*OURS, *theirs, "scipy CG"), threads)
    dense(bench, "c", "clicks 180,000 × 500,000", (*OURS, *theirs), 2)


def large(bench: Any) -> None:
    """news20, covtype and the click logs."""
    for name in bench.shapes or SHAPES:
        try:
            known = name in CLICKS
            own = partial(problems.registered, name=name, quick=bench.quick)
            place = bench.problem(name, None if known else own)
        except Exception as error:
            bench.say("", f"{name}: skipped, {error}")
            continue
        about = json.loads((place / "about.json").read_text())
        small = name in ("news20", "covtype", "criteo1%")
        rows, columns = about["shape"]
        X, _ = problems.load(place, columns, True)
        stored = (
            X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if hasattr(X, "indptr") else X.nbytes
        )
        bench.section(f"d. {name}: {rows:,} × {columns:,}, {stored / 1e6:,.0f} MB, two cores")
        whole = bench.run(place, "whole run", 2, 0 if not small else 8, 3600)
        told = json.loads((place / "whole run.json").read_text()) if "failed" not in whole else {}
        bench.say("", "Whole run, stage by stage, in seconds of the clock: " + spell(told) + ".")
        if "peak" in whole:
            bench.say(f"Peak memory {whole['peak'] / stored:.2f} times the matrix's own bytes.")
        if small:
            solvers = ["fit uids", "fit uids tol=1e-5", "fit lbfgs", "fit newton-cg"]
            solvers += ["fit liblinear", *["fit newton-cholesky"] * (columns < 1000)]
            bench.say("", "Fit; scikit-learn at its own tolerance. Ratios to uids.")
            fits = (bench.run(place, who, 2, 4, 900) for who in solvers)
            objectives(bench, place, bench.table(chain(fits, [whole]))[:-1])
        failed = bench.prepare(place, "reference" if small else "own reference")
        if failed:
            bench.say("", str(failed))
            continue
        solves(bench, place, small, name in CLICKS)
        if hasattr(X, "indptr"):
            products(bench, place, X)
        bench.save()
        del X
        if not small:
            shutil.rmtree(place)


def solves(bench: Any, place: Path, small: bool, clicks: bool) -> None:
    """φ. On click logs plain CG takes so long that it gets twenty times as long as uids took, and
    its error is told. Where a solve takes minutes one tolerance must do, that of criteo1%."""
    if not small:
        for who in ("uids", "scipy PCG, M of uids"):
            (place / f"{who} settings.json").write_text("[3e-5]")
    bench.say("", "φ; ratios to uids." + ("" if small else " Errors are to uids at 1e-10."))

    def rows() -> Iterator[dict[str, Any]]:
        first = bench.run(place, "uids", 2, 4 if small else 0, 900)
        yield first
        if small:
            yield bench.run(place, "uids.influence", 2, 4, 900)
            yield bench.run(place, "scipy PCG", 2, 4, 900)
            yield bench.run(place, "scipy PCG float64", 2, 4, 900)
        yield bench.run(place, "scipy PCG, M of uids", 2, 4 if small else 0, 1800)
        if not clicks:
            yield bench.run(place, "scipy CG", 2, 4, 900)
        elif "wall" in first:
            (place / "limit").write_text(str(20 * first["wall"]))
            yield bench.run(place, "scipy CG, broken off", 2, 0, 3600)
            if small:
                yield bench.run(place, "scipy CG float64, broken off", 2, 0, 1800)

    bench.table(rows())


def objectives(bench: Any, place: Path, fits: list[dict[str, Any]]) -> None:
    from ours import Problem, objective

    p = Problem(place)
    found = {
        fit["name"]: objective(p, np.load(place / f"{fit['name']}.npy"))
        for fit in fits
        if "failed" not in fit
    }
    least = min(found.values())
    told = [f"{name} {value / least - 1:.0e}" for name, value in found.items()]
    bench.say("", f"Objective above the least ({least:.6g}), relative: " + ", ".join(told) + ".")


def products(bench: Any, place: Path, X: Any) -> None:
    """Xᵀ(w ∘ (X v)), and the bytes that it must move: indices twice, values twice unless they are
    all 1, v once, the result twice, w once."""
    ours, theirs = (bench.run(place, f"product {who}", 2, 4) for who in ("uids", "scipy"))
    bench.say("", "Hessian product; ratios to uids.")
    bench.table([ours, theirs])
    if "failed" in ours:
        return
    n, d = X.shape
    ones = bool((X.data[:100_000] == 1).all())
    moved = 2 * X.indices.nbytes + (0 if ones else 2 * X.data.nbytes) + X.indptr.nbytes
    moved += 8 * n + 3 * 8 * d
    speed, reached = bandwidth(2), moved / ours["wall"]
    bench.say(
        "",
        f"It moves {moved / 1e6:,.0f} MB at least: {reached / 1e9:.1f} GB/s, where a plain read by "
        f"two threads reaches {speed / 1e9:.1f} GB/s: {reached / speed:.0%}.",
    )


def bandwidth(threads: int) -> float:
    """Bytes a second of sums over 400 MB, on as many threads."""
    import time
    from concurrent.futures import ThreadPoolExecutor

    parts = [np.ones(50_000_000 // threads) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        seconds = []
        for _ in range(7):
            start = time.perf_counter()
            list(pool.map(np.sum, parts))
            seconds.append(time.perf_counter() - start)
    return sum(part.nbytes for part in parts) / min(seconds)


def growth(bench: Any) -> None:
    """The whole run and its influence over the rows, at 200,000 columns of 15 fields."""
    sizes = [10**5, 10**6, 10**7] if not bench.quick else [10**4, 2 * 10**4, 4 * 10**4]
    bench.section(
        "e. Growth with the rows: clicks, 200,000 columns, 15 a row; seconds of the clock"
    )
    bench.say(
        "", "| rows | fit | influence | whole run | cpu | peak MB |", "|---|---|---|---|---|---|"
    )
    totals, influences, cpus, done = [], [], [], []
    for rows in sizes:
        place = bench.problem(
            f"rows{rows}",
            partial(problems.clicks, rows=rows, validation=rows // 10, test=rows // 10,
                    columns=200_000, fields=15),
        )  # fmt: skip
        told = bench.run(place, "whole run", 2, 0 if rows > 10**6 else 5, 1800)
        if "failed" in told:
            bench.say(f"| {rows:,} | {told['failed']} | | | | |")
            continue
        seconds = json.loads((place / "whole run.json").read_text())
        bench.say(
            f"| {rows:,} | {seconds['fit']:.2f} | {seconds['influence']:.2f} | {told['wall']:.2f} "
            f"| {told['cpu']:.2f} | {told['peak'] / 1e6:.0f} |"
        )
        done.append(rows)
        totals.append(told["wall"])
        influences.append(seconds["influence"])
        cpus.append(told["cpu"])
        shutil.rmtree(place)
    if len(done) > 1:
        slopes = [
            f"{name} {np.polyfit(np.log(done), np.log(values), 1)[0]:.2f}"
            for name, values in (("whole run", totals), ("influence", influences), ("cpu", cpus))
        ]
        bench.say("", "Fitted exponent: " + ", ".join(slopes) + ".")
    bench.save()


def reading(bench: Any) -> None:
    import reading as reader

    bench.section("f. Reading LIBSVM text, MB/s")
    bench.say("", "| file | MB | uids | scikit-learn | ratio |", "|---|---|---|---|---|")
    for row in reader.measure(5 if bench.quick else 200):
        bench.say(
            f"| {row['shape']} | {row['megabytes']:.0f} | {row['uids']:.0f} | {row['sklearn']:.0f} "
            f"| {row['ratio']:.1f} |"
        )
    bench.save()


def larger_than_memory(bench: Any) -> None:
    import out_of_core

    bench.section("o. X larger than the memory of its process, from the disk")
    bench.say(
        "",
        *(f"- {out_of_core.sentence(row)}." for row in out_of_core.measure()),
    )
    bench.save()


def of_networks(bench: Any) -> None:
    from small_network import small_network  # needs torch

    small_network(bench)
    networks(bench)


def guards(bench: Any) -> None:
    import guards as guarded

    bench.section("g. Guards of plugins in one whole run, in products X V")
    bench.say(
        "",
        "A backend, a solver, a model and a sampler as if of other packages. The residual is one "
        "product with H, and leaves X s, without which φ would take one product X V more: that one "
        "is not the guards'.",
        *("", "| X | X V, ms | tried once | looked at | residual, less X s | in all |"),
        "|---|---|---|---|---|---|",
    )
    for row in guarded.measure(bench.quick):
        costs = [row[kind] for kind in guarded.KINDS]
        parts = " | ".join(f"{cost:.2f}" for cost in [*costs, sum(costs)])
        bench.say(f"| {row['shape']} | {1e3 * row['product']:.1f} | {parts} |")
    bench.save()


def spell(seconds: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())


NUMPY = ("numpy Cholesky float32", "numpy Cholesky float64")
LIBRARIES = ("dattri CG", "pyDVL direct", "captum naive")
PARTS: dict[str, Any] = {
    "a": partial(
        dense,
        letter="a",
        name="dense 20,000 × 784",
        contestants=(
            *OURS,
            "scipy CG",
            "scipy CG float64",
            "scipy PCG, M of uids",
            *NUMPY,
            *LIBRARIES,
        ),
    ),
    "b": partial(
        dense,
        letter="b",
        name="dense 60,000 × 3,072",
        contestants=(*OURS, "scipy CG", "dattri CG"),
        settings={
            "scipy CG": [1e-5, 3e-6, 1e-6, 3e-7, 1e-7],
            "dattri CG": [["float32", 100], ["float64", 200]],
        },
    ),
    "c": sparse,
    "d": large,
    "e": growth,
    "f": reading,
    "g": guards,
    "m": many_classes,
    "n": of_networks,
    "o": larger_than_memory,
    "s": ablations,
    "t": first_seconds,
}
