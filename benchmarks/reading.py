"""How fast is LIBSVM text read? uids against scikit-learn's ``load_svmlight_file``.

    python benchmarks/reading.py [megabytes] [repeats]

makes two files of that size in a temporary folder and reads each by both, in turn; the best of the
repeats counts. uids writes its arrays to disk and hands back a map of them, scikit-learn's are in
memory: uids moves more bytes. The compiled code is loaded beforehand, the files are in the page
cache, and the results of both are compared.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from uids.datasets.formats.libsvm import parse
from uids.datasets.parsed import load

PIECE = 8_000_000  # bytes that are made; a file has them over and over


def click(rng: np.random.Generator) -> str:
    """15 fields, each with its own columns, few of them frequent; all values are 1."""
    starts = np.sort(rng.choice(1_000_000, 15, replace=False))
    widths = np.diff(np.append(starts, 1_000_000))
    columns = starts + 1 + (rng.pareto(1.0, (4000, 15)) * widths * 0.01).astype(int) % widths
    labels = rng.integers(0, 2, 4000)
    rows = zip(labels.tolist(), columns.tolist(), strict=True)
    return "".join(f"{y} {' '.join(f'{j}:1' for j in row)}\n" for y, row in rows)


def dense(rng: np.random.Generator) -> str:
    """50 columns of six digits."""
    rows = zip(rng.choice([-1, 1], 1000).tolist(), rng.random((1000, 50)).tolist(), strict=True)
    return "".join(
        f"{y} {' '.join(f'{j}:{v:.6f}' for j, v in enumerate(row, 1))}\n" for y, row in rows
    )


SHAPES = {"click": click, "dense": dense}


def measure(megabytes: float = 100, repeats: int = 3) -> list[dict[str, Any]]:
    """For each shape its name, ``megabytes``, ``uids`` and ``sklearn`` in MB/s, and ``ratio``."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shape, make in SHAPES.items():
            path, rng, piece = folder / shape, np.random.default_rng(0), ""
            while len(piece) < min(PIECE, megabytes * 1e6):
                piece += make(rng)
            with open(path, "w") as file:
                for _ in range(max(1, round(megabytes * 1e6 / len(piece)))):
                    file.write(piece)
            read_by_uids(path, folder / "arrays")
            seconds: dict[str, list[float]] = {"uids": [], "sklearn": []}
            for _ in range(repeats):
                shutil.rmtree(folder / "arrays")
                start = time.perf_counter()
                X, y = read_by_uids(path, folder / "arrays")
                seconds["uids"].append(time.perf_counter() - start)
                start = time.perf_counter()
                other, labels = load_svmlight_file(str(path))
                seconds["sklearn"].append(time.perf_counter() - start)
            for ours, theirs in (
                (X.data, other.data),
                (X.indices, other.indices),
                (X.indptr, other.indptr),
                (y, labels),
            ):
                np.testing.assert_array_equal(ours, theirs)
            size = path.stat().st_size / 1e6
            speed = {who: size / min(times) for who, times in seconds.items()}
            ratio = speed["uids"] / speed["sklearn"]
            found.append({"shape": shape, "megabytes": size, **speed, "ratio": ratio})
            path.unlink()
            shutil.rmtree(folder / "arrays")
    return found


def read_by_uids(path: Path, folder: Path) -> Any:
    folder.mkdir()
    parse({"train": path}, folder)
    return load(folder)["train"]


if __name__ == "__main__":
    for row in measure(*(int(word) for word in sys.argv[1:3])):
        print(
            f"{row['shape']}, {row['megabytes']:.0f} MB: uids {row['uids']:.0f} MB/s, "
            f"scikit-learn {row['sklearn']:.0f} MB/s, {row['ratio']:.1f} times"
        )
