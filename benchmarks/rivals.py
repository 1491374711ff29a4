"""How well do others do with the very rows that uids is given? cleanlab and loss trimming.

    make rivals ARGS="--sets breast_cancer,digits --seeds 20-29 --out FILE"

makes an environment for cleanlab beside uids' own and goes through the settings of
conf/experiment/field.yaml, those of ``uids experiment=field -m``. Splits and noise are made here,
by uids, and handed over in files; ``peer_cleanlab.py`` does the rest. Each setting is a line of
JSON that is appended to FILE; those that FILE has already are not done again, so that it may be
started anew, and twice at once for different sets or seeds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import yaml

from uids.datasets.adopted import AdoptedDataset
from uids.datasets.data import Data
from uids.datasets.split import Part, Split, split
from uids.pipeline.settings import Settings, make_settings
from uids.registry import REGISTRIES

ROOT = Path(__file__).parents[1]
FIELD = ROOT / "conf" / "experiment" / "field.yaml"
PYTHON = ROOT / ".venv-rivals" / "bin" / "python"

Point = dict[str, Any]  # key of a run ↦ its value: "split.train" ↦ 1000
KEY = ("set", "noise_kind", "noise", "seed")  # what tells the lines of a results file apart


def points(seeds: list[int] | None) -> Iterator[Point]:
    """Every point of the grids; ``seeds`` take the place of theirs."""
    for grid in yaml.safe_load(FIELD.read_text())["sweep"]["grids"]:
        axes = {
            key: [yaml.safe_load(word) for word in str(v).split(",")] for key, v in grid.items()
        }
        if seeds is not None:
            axes["seed"] = seeds
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))


def settings_of(point: Point) -> Settings:
    """As of a run with these keys."""
    keys: dict[str, Any] = {}
    for key, value in point.items():
        group, _, name = key.rpartition(".")
        if group:
            keys.setdefault(group, {})[name] = value
        elif key != "dataset":
            keys[key] = value
    return make_settings(**keys)


def name_of(point: Point) -> str:
    """The data set, and how it is split where that is not the default."""
    kind = point.get("split.kind", "random")
    return point["dataset"] if kind == "random" else f"{point['dataset']}_{kind}"


def described(point: Point, settings: Settings) -> dict[str, Any]:
    values = (name_of(point), settings.noise_kind, settings.noise, settings.seed)
    return dict(zip(KEY, values, strict=True))


def save(path: Path, shares: Split, seed: int) -> None:
    """Training and validation rows one above the other, and the test rows."""

    def rows(part: Part) -> Any:
        return shares.sources[part.origin][part.row]

    train, validation, test = shares.train, shares.validation, shares.test
    if test is None:
        raise SystemExit("there are no test rows to judge by: set split.test")
    above, below = rows(train), rows(validation)
    stacked = sp.vstack([above, below], "csr") if sp.issparse(above) else np.vstack([above, below])
    arrays: dict[str, Any] = {}
    for name, X in (("fit", stacked), ("test", rows(test))):
        if sp.issparse(X):
            parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
            arrays |= {f"{name}_{part}": array for part, array in parts.items()}
        else:
            arrays[f"{name}_X"] = X
    np.savez(
        path,
        y=np.concatenate([train.y, validation.y]),
        n=len(train.y),
        y_test=test.y,
        wrong=shares.flipped,
        classes=len(shares.labels),
        seed=seed,
        **arrays,
    )


@contextmanager
def peer(python: Path) -> Iterator[Any]:
    """A function from the path of a problem to the answer of the rivals' interpreter."""
    script = Path(__file__).with_name("peer_cleanlab.py")
    with subprocess.Popen(
        [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(path: Path) -> dict[str, Any]:
            print(path, file=process.stdin, flush=True)
            line = process.stdout.readline()
            if not line:
                raise SystemExit("the rivals' interpreter has stopped; its error is above")
            return json.loads(line)

        yield ask
        process.stdin.close()


def done(out: Path) -> set[tuple[Any, ...]]:
    if not out.exists():
        return set()
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    return {tuple(line[key] for key in KEY) for line in lines}


def append(out: Path, line: dict[str, Any]) -> None:
    """In one write at the end of the file, so that lines of two processes do not mix."""
    file = os.open(out, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, (json.dumps(line) + "\n").encode())
    finally:
        os.close(file)


def numbers(text: str) -> list[int]:
    """20-22,30 ↦ 20, 21, 22, 30."""
    found: list[int] = []
    for word in text.split(","):
        first, _, last = word.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals")
    parser.add_argument("--sets", help="those of the grids, as in breast_cancer,covtype_shift; all")
    parser.add_argument("--seeds", type=numbers, help="20-29 or 20,25; those of the grids")
    parser.add_argument("--out", type=Path, required=True, help="lines are appended to this file")
    parser.add_argument("--python", type=Path, default=PYTHON, help="an interpreter with cleanlab")
    chosen = parser.parse_args()
    todo = list(points(chosen.seeds))
    known = {name_of(point) for point in todo}
    sets = set(chosen.sets.split(",")) if chosen.sets else known
    if sets - known:
        parser.error(f"unknown sets: {', '.join(sorted(sets - known))}; known: {sorted(known)}")
    before, loaded = done(chosen.out), dict[str, Data | None]()
    with peer(chosen.python) as ask, tempfile.TemporaryDirectory() as folder:
        for point in todo:
            settings = settings_of(point)
            line = described(point, settings)
            if line["set"] not in sets or tuple(line.values()) in before:
                continue
            data = load(point["dataset"], loaded)
            if data is None:
                continue
            shares = split(
                data, settings.split, settings.noise, settings.split_seed, settings.noise_kind
            )
            path = Path(folder, "problem.npz")
            save(path, shares, settings.seed)
            line |= ask(path)
            append(chosen.out, line)
            how = line.get("error") or f"{line['cpu_seconds']:.2f} s of CPU"
            print(" ".join(str(line[key]) for key in KEY), how, flush=True)


def load(name: str, loaded: dict[str, Data | None]) -> Data | None:
    """The set, read once; None where it is not here."""
    if name not in loaded:
        loaded.clear()  # the points go set by set: one at a time in memory
        dataset = AdoptedDataset(REGISTRIES["dataset"].choose(name))
        missing = dataset.missing()
        if missing:
            print(f"skipped: {missing}")
        loaded[name] = None if missing else dataset.load()
    return loaded[name]


if __name__ == "__main__":
    main()
