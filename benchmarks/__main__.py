"""One command, one table: uids against its peers, each pair in one run.

    make benchmarks [ARGS="a c --quick"]

Parts: a, b (dense φ), c (sparse φ), d (φ, product, fit and whole run on news20, covtype and click
logs), e (growth with the rows), f (reading), g (guards of plugins), m (many classes, leverage), n
(networks), o (X larger than memory, ten minutes), s (sweeps against loops over runs), t (the first
seconds of a command). Without parts, all. ``--quick`` makes every problem but that of part o some
fifty times smaller, to see that all works; its figures mean nothing. What is printed also goes to
benchmarks/RESULTS.md, section by section; its head, and sections not measured, stay. The figure
docs/figures/speed.png is drawn from it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import networks  # noqa: E402
import problems  # noqa: E402

PEERS = ("pyDVL direct", "pyDVL CG", "dattri CG", "dattri explicit", "captum naive")
OF_NETWORKS = ("networks.py", "peer_networks.py")
TIMEOUT = 180.0  # seconds for one contestant, all its runs together


class Bench:
    def __init__(self, folder: Path, quick: bool, peer_python: str, shapes: list[str]) -> None:
        self.folder, self.quick, self.peer_python = folder, quick, peer_python
        self.shapes = shapes
        self.lines: list[str] = []

    def say(self, *lines: str) -> None:
        for line in lines:
            print(line, flush=True)
        self.lines += lines

    def problem(self, name: str, make: Any = None) -> Path:
        place = self.folder / name.replace(" ", "").replace(",", "")
        if not (place / "about.json").exists():
            (make or problems.shapes(self.quick)[name])(place)
        return place

    def run(
        self,
        place: Path,
        name: str,
        threads: int = 1,
        seconds: float = 4,
        timeout: float = TIMEOUT,
    ) -> dict[str, Any]:
        """One contestant in a process of its own: what ``clock.main`` prints, or why it did not."""
        theirs = name in (*PEERS, *networks.THEIRS)
        ours, peers = OF_NETWORKS if "network" in name else ("ours.py", "peers.py")
        if theirs and self.peer_python == "none":
            return {"name": name, "failed": "not run"}
        count = str(threads)
        variables = dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"),
            count,
        )
        if theirs and self.quick:
            timeout = 60.0
        command = [
            self.peer_python if theirs else sys.executable,
            str(HERE / (peers if theirs else ours)),
            str(place), name, str(1 if self.quick else seconds),
        ]  # fmt: skip
        environment = {**os.environ, **variables}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=timeout
            )
        except subprocess.TimeoutExpired:
            return {"name": name, "failed": f"past {timeout:.0f} s"}
        if done.returncode:
            words = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return {"name": name, "failed": words[:120]}
        return dict(json.loads(done.stdout.splitlines()[-1]))

    def prepare(self, place: Path, reference: str = "reference") -> dict[str, Any]:
        """θ̂ by uids, and φ in float64 there."""
        import numpy as np

        for name, file in (("fit uids", "theta.npy"), (reference, "reference.npy")):
            if not (place / file).exists():
                told = self.run(place, name, 2, 0, 1800)
                if "failed" in told:
                    return told
                np.save(place / file, np.load(place / f"{name}.npy"))
        return {}

    def table(self, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """One line each, as soon as it is measured; ratios are to the first line, by processor time
        and by the clock."""
        seen: list[dict[str, Any]] = []
        self.say(
            "",
            "| | cpu s | clock s | cpu ratio | clock ratio | error | setting | peak MB "
            "| beside the data MB |",
            "|---|---|---|---|---|---|---|---|---|",
        )
        for row in rows:
            seen.append(row)
            if "failed" in row:
                self.say(f"| {row['name']} | {row['failed']} | | | | | | | |")
                continue
            ratios = ["", ""]
            if "cpu" in seen[0]:
                ratios = [f"{row[key] / seen[0][key]:.1f}" for key in ("cpu", "wall")]
            error = "" if row.get("error") is None else f"{row['error']:.0e}"
            setting = row.get("setting")
            setting = ", ".join(map(str, setting)) if isinstance(setting, list) else setting
            setting = f"{setting:.0e}" if isinstance(setting, float) else setting
            self.say(
                f"| {row['name']} | {row['cpu']:.3g} | {row['wall']:.3g} | {' | '.join(ratios)} "
                f"| {error} | {'' if setting is None else setting} | {row['peak'] / 1e6:.0f} "
                f"| {row['beside'] / 1e6:.0f} |"
            )
        self.save()
        return seen

    def section(self, title: str) -> None:
        title += " (quick: some fifty times smaller)" if self.quick else ""
        self.say("", f"## {title}", "", *machine())

    def save(self) -> None:
        """After each table: a run of hours may be broken off."""
        write(self.lines, HERE / ("RESULTS-quick.md" if self.quick else "RESULTS.md"))


def machine() -> list[str]:
    model = platform.processor()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []:
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = [f"Python {platform.python_version()}"]
    for name in ("numpy", "scipy", "scikit-learn", "numba"):
        from importlib.metadata import version

        versions.append(f"{name} {version(name)}")
    load = f", load average {os.getloadavg()[0]:.1f} when this began"
    return [
        f"Machine: {os.cpu_count()} cores of {model}, {memory:.0f} GiB{load}.",
        f"{', '.join(versions)}. {time.strftime('%Y-%m-%d')}.",
    ]


def main() -> None:
    import figure
    import parts

    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks")
    parser.add_argument("parts", nargs="*", default=[], help="some of a b c d e f g m n o s t")
    parser.add_argument("--quick", action="store_true", help="small problems")
    parser.add_argument("--shapes", nargs="+", default=[], help="of part d, some by name")
    parser.add_argument("--peers", default=".venv-peers/bin/python", help="their Python, or none")
    parser.add_argument("--keep", type=Path, help="a folder in which the problems stay")
    given = parser.parse_args()
    chosen = [letter for letter in parts.PARTS if not given.parts or letter in given.parts]
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(given.keep or Path(temporary), given.quick, given.peers, given.shapes)
        for letter in chosen:
            parts.PARTS[letter](bench)
    if not given.quick:
        figure.draw(HERE / "RESULTS.md", HERE.parent / "docs" / "figures" / "speed.png")


def write(lines: list[str], path: Path) -> None:
    """Each section in its place in the file; those that were not measured this time stay."""
    text = path.read_text() if path.exists() else "# Results\n"
    head, *kept = text.split("\n## ")
    sections = {section.split("\n")[0]: section.strip() for section in kept}
    for section in "\n".join(lines).split("\n## ")[1:]:
        sections[section.split("\n")[0]] = section.strip()
    body = [f"## {sections[title]}" for title in sorted(sections)]
    path.write_text("\n\n".join([head.strip(), *body]) + "\n")


if __name__ == "__main__":
    main()
