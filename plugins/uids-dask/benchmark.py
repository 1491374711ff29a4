"""Hessian products and a whole fit with φ on Dask's workers beside numba in this process.

python plugins/uids-dask/benchmark.py [--rows 10000000] [--columns 1000000] [--partitions 8]

All in one run and by turns: seconds of Xᵀ(w ∘ (X v)) on a click log of 39 fields, by numba with two
threads, by one worker and by two; the bytes that a product moves; what this process takes beside
that. ``--whole``: a fit and φ of the shape criteo1% (456,674 × 1,000,000) instead.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp
from uids_dask import Dask
from uids_dask.cluster import Cluster
from uids_dask.matrix import DaskMatrix
from uids_dask.partition import Partition, slimmed
from uids_dask.partitioned import Blocks, Partitioned

import uids
from uids.backends.numba import Numba
from uids.datasets.public.click_logs import zeros_and_ones

FIELDS = 39
REPEATS = 7  # of which the quickest counts: other work on the machine only slows down


def block(seed: int, rows: int, columns: int) -> Any:
    """A click log: few values of a field are frequent."""
    rng = np.random.default_rng(seed)
    codes = [(rng.zipf(1.3, size=rows) * 7919 + 104729 * f) % columns for f in range(FIELDS)]
    return zeros_and_ones([code.astype(np.int32) for code in codes], columns)


def partition(seed: int, rows: int, columns: int, share: int) -> Partition:
    return Partition(slimmed(block(seed, rows, columns)), share)


def blocks_on(cluster: Cluster, rows: int, columns: int, count: int) -> DaskMatrix:
    share = -(-count // len(cluster.homes))
    given = {"rows": rows // count, "columns": columns, "share": share}

    def make(cluster: Cluster) -> list[Any]:
        return [
            cluster.client.submit(partition, i, workers=[cluster.home(i, count)], **given)
            for i in range(count)
        ]

    heights = [rows // count] * count
    about = columns, np.dtype(np.float32), True
    return DaskMatrix(Blocks(cluster, make, heights, *about, FIELDS * rows, True))


def rss() -> float:
    """MiB that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


class Counted:
    """Bytes between this process and the workers, and among those: through memory that both see
    (what is lent is written once, whatever the number of workers), or sent."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.sent, self.got = cluster, 0, 0
        send, gather, lender = cluster.send, cluster.gather, cluster.lender
        room = lender.room if lender else None

        def counted_send(values: Any, homes: Any) -> Any:
            self.sent += sum(value.nbytes for value in values)
            return send(values, homes)

        def counted_gather(futures: Any, what: str = "") -> Any:
            found = gather(futures, what)
            self.got += sum(value.nbytes for value in found if isinstance(value, np.ndarray))
            return found

        def counted_room(shapes: Any, safe: bool = False) -> Any:
            size = 8 * sum(int(np.prod(shape)) for shape in shapes)
            self.sent, self.got = self.sent + safe * size, self.got + (not safe) * size
            return room(shapes, safe)

        cluster.send, cluster.gather = counted_send, counted_gather  # type: ignore[method-assign]
        if lender:
            lender.room = counted_room  # type: ignore[method-assign]

    def between(self) -> int:
        totals = self.cluster.client.run(handed_out)
        return sum(totals.values())


def handed_out(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def quickest(product: Any, repeats: int = REPEATS) -> float:
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        product()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def products(rows: int, columns: int, count: int) -> None:
    rng = np.random.default_rng(1)
    w, v = rng.random(rows // count * count), rng.normal(size=columns)
    print(f"{len(w):,} × {columns:,}, {FIELDS} a row, {count} partitions")
    found, right = {}, None
    for workers in (1, 2):
        backend = Dask(workers=workers, small=0)
        cluster = backend.cluster()
        before = rss()
        matrix = blocks_on(cluster, rows, columns, count)
        began = time.perf_counter()
        first = matrix.gram_dot(matrix.hold(w), v)
        print(
            f"dask, {workers} workers: made, and first product {time.perf_counter() - began:.1f} s"
        )
        right = first if right is None else right
        counted = Counted(cluster)
        held = matrix.hold(w)
        matrix.gram_dot(held, v)  # w is sent
        counted.sent, counted.got, among = 0, 0, counted.between()
        matrix.gram_dot(held, v)
        among = counted.between() - among - (0 if cluster.lender else counted.got)
        found[workers] = quickest(lambda: matrix.gram_dot(held, v))  # noqa: B023, called at once
        print(
            f"dask, {workers} workers: {found[workers]:.4f} s a product; it moves "
            f"{counted.sent / (REPEATS + 1) / 8 / columns:.2f} × 8 d to them, "
            f"{counted.got / (REPEATS + 1) / 8 / columns:.2f} × 8 d from them, "
            f"{among / 8 / columns:.2f} × 8 d among them; this process grew by "
            f"{rss() - before:.0f} MiB (8 n = {8 * rows / 2**20:.0f} MiB, "
            f"8 d = {8 * columns / 2**20:.0f} MiB)"
        )
        small = blocks_on(cluster, count * 100, 1000, count)
        ones = small.hold(np.ones(count * 100))
        latency = quickest(lambda: small.gram_dot(ones, np.ones(1000)))  # noqa: B023
        print(f"dask, {workers} workers: {latency:.4f} s for a product of next to nothing")
        if workers == 1:
            cluster.close()
    X = sp.vstack([block(i, rows // count, columns) for i in range(count)], format="csr")
    for threads in (1, 2):
        numba = Numba(threads=threads).matrix(X)
        got = numba.gram_dot(w, v)
        assert np.abs(got - right).max() <= 1e-9 * np.abs(right).max()
        for _ in range(2):
            seconds = quickest(lambda: numba.gram_dot(w, v))  # noqa: B023
        print(f"numba, {threads} threads: {seconds:.4f} s a product")
        if threads == 2:
            for workers, taken in found.items():
                print(f"dask with {workers} workers / numba with 2 threads: {taken / seconds:.2f}")
    print(f"two workers are {found[1] / found[2]:.2f} times as quick as one")


def whole(rounds: int) -> None:
    from benchmarks.problems import clicks, load

    with TemporaryDirectory() as place:
        clicks(Path(place), 456_674, 50_000, 1, 1_000_000, FIELDS)
        train, judges = load(Path(place), 1_000_000), load(Path(place) / "validation", 1_000_000)
    backends: dict[str, Any] = {"numba, 2 threads": Numba(threads=2)}
    data: dict[str, Any] = {"numba, 2 threads": (train, judges)}
    for processes in (False, True):
        name = f"dask, 2 workers in {'processes' if processes else 'threads'}"
        dask = backends[name] = Dask(workers=2, processes=processes)
        data[name] = [(on_workers(dask, X), y) for X, y in (train, judges)]
    seconds: dict[str, list[float]] = {name: [] for name in backends}
    phi = {}
    model = {"name": "logreg", "fit_intercept": False}
    for _ in range(rounds):
        for name, backend in backends.items():
            began = time.perf_counter()
            phi[name] = uids.influence(model, *data[name], backend=backend).phi
            seconds[name].append(time.perf_counter() - began)
    print(f"criteo1% (456,674 × 1,000,000), fit and φ, X in its place, quickest of {rounds}:")
    first, right = min(seconds["numba, 2 threads"]), phi["numba, 2 threads"]
    for name, times in seconds.items():
        error = np.abs(phi[name] - right).max() / np.abs(right).max()
        print(f"{name}: {min(times):.2f} s, {min(times) / first:.2f}; φ within {error:.1e}")


def on_workers(backend: Dask, X: Any) -> Partitioned:
    matrix = DaskMatrix.of(backend.cluster(), X)
    matrix.row_squares()
    return Partitioned(matrix.blocks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.whole:
        whole(given.rounds)
    else:
        products(given.rows, given.columns, given.partitions)


if __name__ == "__main__":
    main()
