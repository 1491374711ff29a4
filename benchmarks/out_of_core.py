"""Is a data set larger than memory read at the speed of the disk?

    python benchmarks/out_of_core.py [gigabytes] [share]

makes a dense and a click-shaped X of that size (2) in a temporary folder. A process of its own for
each may hold ``share`` of it (0.6) and its libraries, and no more: it parses the file, and then
times one pass of plain reading, one Hessian product, and a whole run (fit, influence, sample,
refit, evaluate). Private memory is limited by RLIMIT_DATA. A mapped file is the system's to keep,
and a machine with room would keep it; so a thread hands its pages back (MADV_PAGEOUT) whenever more
than the share are in memory, and before each measurement all. What came from the disk is what the
system has counted for this process.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

PAGEOUT = 21  # MADV_PAGEOUT, of Linux 5.4 and later
INTERVAL = 0.05  # seconds between two looks at what is in memory
FORMS = ("dense", "click")
PIECE = 100_000  # rows that are made; a set has them over and over
OVERHEAD = 400 * 2**20  # bytes of the libraries and their threads, before any data


def make(folder: Path, form: str, size: float) -> dict[str, Any]:
    """The data set as a run names it, and as many bytes of X as ``size``, about."""
    rng = np.random.default_rng(0)
    if form == "dense":
        X = rng.standard_normal((PIECE, 50))
        y = (X @ rng.standard_normal(50) + 2 * rng.standard_normal(PIECE) > 0).astype(np.int64)
        many = max(1, round(size / X.nbytes))
        whole = np.lib.format.open_memmap(folder / "X.npy", "w+", X.dtype, (many * PIECE, 50))
        for k in range(many):
            whole[k * PIECE : (k + 1) * PIECE] = X
        np.savez(folder / "dense.npz", X=whole, y=np.tile(y, many))
        (folder / "X.npy").unlink()
        return {"name": "npz", "train": str(folder / "dense.npz")}
    fields, width = 39, 2000
    columns = (rng.pareto(1.0, (PIECE, fields)) * 20).astype(int) % width
    columns += 1 + width * np.arange(fields)
    scores = 0.3 * rng.standard_normal(1 + width * fields)[columns].sum(axis=1)
    y = (scores + rng.logistic(size=PIECE) > 0).astype(int)
    rows = zip(y.tolist(), columns.tolist(), strict=True)
    text = "".join(f"{label} {' '.join(f'{j}:1' for j in row)}\n" for label, row in rows)
    with open(folder / "click.txt", "w") as file:
        for _ in range(max(1, round(size / (12 * fields * PIECE)))):
            file.write(text)
    return {"name": "libsvm", "train": str(folder / "click.txt")}


def mapped() -> Iterator[tuple[int, int, str]]:
    """(address, length, path) of the arrays that this process has mapped."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        words = line.split()
        if words[-1].endswith(".npy"):
            first, last = (int(number, 16) for number in words[0].split("-"))
            yield first, last - first, words[-1]


def hand_back() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for first, length, path in mapped():
        if libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(length), PAGEOUT):
            raise OSError(ctypes.get_errno(), "MADV_PAGEOUT")
        with open(path, "rb") as file:  # what was read ahead, and is not mapped yet
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def resident() -> int:
    """Bytes of them that are in memory; those of libraries are not meant."""
    total, is_array = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if line[:1] in "0123456789abcdef":
            is_array = line.endswith(".npy")
        elif is_array and line.startswith("Rss:"):
            total += int(line.split()[1]) * 1024
    return total


def number(path: str, name: str) -> int:
    for line in Path(path).read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise KeyError(name)


class Watch:
    """Keeps what is mapped below a limit, and knows the peaks."""

    def __init__(self, limit: int) -> None:
        self.limit, self.private, self.file = limit, 0, 0
        threading.Thread(target=self.look, daemon=True).start()

    def look(self) -> None:
        while True:
            file = resident()
            self.private = max(self.private, number("/proc/self/status", "RssAnon") * 1024)
            self.file = max(self.file, file)
            if file > self.limit:
                hand_back()
            time.sleep(INTERVAL)


def timed(work: Callable[[], Any]) -> dict[str, float]:
    """From the disk: seconds of the clock and of the processor, and bytes."""
    hand_back()
    before, wall, cpu = (
        number("/proc/self/io", "read_bytes"), time.perf_counter(), time.process_time(),
    )  # fmt: skip
    work()
    seconds = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return {**seconds, "bytes": number("/proc/self/io", "read_bytes") - before}


def within(dataset: dict[str, Any], limit: int) -> dict[str, Any]:
    """In this process, from now on limited: the three measurements."""
    import uids
    from uids.backends.numba import Numba
    from uids.registry import REGISTRIES

    resource.setrlimit(resource.RLIMIT_DATA, (limit + OVERHEAD, resource.RLIM_INFINITY))
    watch = Watch(limit)
    began = time.perf_counter()
    X = REGISTRIES["dataset"].choose(dataset).component.load().X
    parse = time.perf_counter() - began
    os.sync()  # what is not yet on the disk cannot be handed back
    arrays = [X] if isinstance(X, np.ndarray) else [X.indices, X.data, X.indptr]
    matrix = Numba().matrix(X)
    used = arrays if not matrix.all_ones else [X.indices, X.indptr]
    w, v = np.ones(X.shape[0]), np.ones(X.shape[1])
    plain, product = [], []
    for _ in range(3):  # the best of them: others use the disk too
        plain.append(timed(lambda: [int(a.view(np.uint8).max()) for a in used]))
        product.append(timed(lambda: matrix.gram_dot(w, v)))
    whole = timed(lambda: uids.run(dataset, backend="numba", repeats=1, cache=False))
    return {
        "size": sum(array.nbytes for array in arrays),
        "parse": parse,
        "limit": limit,
        "plain": min(plain, key=lambda each: each["wall"]),
        "product": min(product, key=lambda each: each["wall"]),
        "whole": whole,
        "private": watch.private,
        "mapped": watch.file,
    }


def measure(gigabytes: float = 2.0, share: float = 0.6) -> list[dict[str, Any]]:
    found = []
    for form in FORMS:
        with tempfile.TemporaryDirectory() as name:
            dataset = make(Path(name), form, gigabytes * 1e9)
            limit = int(share * gigabytes * 1e9)
            environment = {**os.environ, "XDG_CACHE_HOME": f"{name}/cache"}
            command = [sys.executable, __file__, "--within", json.dumps(dataset), str(limit)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr.strip().splitlines()[-1])
            found.append({"form": form, **json.loads(done.stdout.splitlines()[-1])})
    return found


def sentence(told: dict[str, Any]) -> str:
    plain, product, whole = (told[name] for name in ("plain", "product", "whole"))
    speed = {key: told[key]["bytes"] / told[key]["wall"] / 1e6 for key in ("plain", "product")}
    whole_speed = whole["bytes"] / whole["wall"] / 1e6
    return (
        f"{told['form']}, X of {told['size'] / 1e9:.2f} GB in a process that may have "
        f"{told['limit'] / 1e9:.2f}: parsed in {told['parse']:.0f} s; plain reading "
        f"{speed['plain']:.0f} MB/s, a Hessian product {speed['product']:.0f} MB/s "
        f"({product['wall'] / plain['wall']:.2f} times the clock, {product['cpu']:.1f} s of "
        f"processor); a whole run {whole['wall']:.0f} s, in which {whole['bytes'] / 1e9:.1f} GB "
        f"came from the disk, {whole_speed:.0f} MB/s; private memory "
        f"{told['private'] / 1e9:.2f} GB at most"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--within"]:
        print(json.dumps(within(json.loads(sys.argv[2]), int(sys.argv[3]))))
    else:
        for told in measure(*(float(word) for word in sys.argv[1:3])):
            print(sentence(told))
