"""A whole run in a process that may not hold its X: ``python tests/out_of_core.py FOLDER FORM``.

The limit is RLIMIT_DATA, the private memory of a process: files that are mapped to be read do not
count, a copy of them does. It is set after a small run of the same kind, to what the process has
then, libraries with their buffers and compiled loops, and ROOM. So what is measured is what a
larger X takes beside it. LIBSVM text is parsed before that: its parser sets room aside that it does
not use, which counts here and takes no memory. Prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = 64  # dense, and entries of a sparse row
WIDTH = 20_000  # columns of sparse rows
LARGE = {"dense": 150_000, "sparse": 100_000}  # rows: 77 MB of float64, or with their columns
SMALL = 4000  # rows of the run before
ROOM = 48 * 2**20  # bytes beside X, of which a copy would be 77 MB: some thirty vectors of rows


def write(folder: Path, form: str, rows: int) -> dict[str, Any]:
    """The data set as a run names it; made of one piece over and over."""
    rng = np.random.default_rng(0)
    piece = 2000
    if form == "dense":
        X = rng.standard_normal((piece, COLUMNS))
        y = (X[:, 0] + rng.standard_normal(piece) > 0).astype(np.int64)
        many = rows // piece
        np.savez(folder / f"{rows}.npz", X=np.tile(X, (many, 1)), y=np.tile(y, many))
        return {"name": "npz", "train": str(folder / f"{rows}.npz")}
    columns = np.sort(rng.integers(0, WIDTH // COLUMNS, (piece, COLUMNS)), axis=1)
    columns = 1 + columns + np.arange(COLUMNS) * (WIDTH // COLUMNS)
    values, y = rng.integers(1, 9, columns.shape), rng.integers(0, 2, piece)
    text = "".join(
        f"{label} {' '.join(f'{j}:0.{v}' for j, v in zip(*row, strict=True))}\n"
        for label, row in zip(
            y.tolist(), zip(columns.tolist(), values.tolist(), strict=True), strict=True
        )
    )
    path = folder / f"{rows}.txt"
    path.write_text(text * (rows // piece))
    return {"name": "libsvm", "train": str(path)}


def main(folder: Path, form: str) -> dict[str, Any]:
    import resource

    import uids

    large, small = (write(folder, form, rows) for rows in (LARGE[form], SMALL))
    how: dict[str, Any] = {"backend": "numba", "repeats": 1, "split": {"validation": 2000}}
    how["model"] = {"name": "logreg", "C": 1e-4}  # few iterations
    uids.run(small, **how)
    if form == "sparse":
        loaded(large)
    buffers_of_blas()
    had = private()
    resource.setrlimit(resource.RLIMIT_DATA, (had + ROOM, resource.RLIM_INFINITY))
    metrics = uids.run(large, **how).metrics
    X = loaded(large)
    arrays = [X] if form == "dense" else [X.data, X.indices]
    try:
        held = [np.array(array) for array in arrays]
    except MemoryError:
        held = []
    return {
        "status": metrics["status"],
        "size": sum(array.nbytes for array in arrays),
        "copied": bool(held),
        "rows": metrics["dataset"]["rows"],
        "room": ROOM,
    }


def loaded(dataset: dict[str, Any]) -> Any:
    from uids.registry import REGISTRIES

    return REGISTRIES["dataset"].choose(dataset).component.load().X


def buffers_of_blas(threads: int = 2) -> None:
    """OpenBLAS holds on to one of some 30 MB for each thread that is in it at once, which in the
    small run may by chance have been one."""
    ready, A = threading.Barrier(threads), np.ones((300, 300))

    def multiply() -> None:
        for _ in range(20):
            ready.wait()
            A @ A

    workers = [threading.Thread(target=multiply) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def private() -> int:
    """Bytes that count against the limit."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmData in /proc/self/status")


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
