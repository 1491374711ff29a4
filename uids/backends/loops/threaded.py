"""Work on rows shared out to threads, and the memory that it needs, for the backend numba."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from uids.backends import Array
from uids.backends.loops import kernels as k
from uids.system.threads import on_threads

STEP = 2**18  # numbers between the two loops of a fused product: 2 MiB for each thread
WIDTH = 8  # columns added into scratch at once: as many as a cache line holds
ALL_ROWS = np.empty(0, dtype=np.uint64)
SHAPES = 4  # of results, for which memory is kept
LARGE = 2**23  # numbers in a result, 64 MiB, from which on it is not kept


def own_references() -> int:
    """To an array in a dictionary, while a local name for it is counted: more than the dictionary's
    one, and how many depends on the version of Python."""
    results = {(): np.empty(0)}
    held = results.get(())
    return sys.getrefcount(held)


OWN_REFERENCES = own_references()


class Scratch:
    """Memory that a matrix and its views keep from one product to the next, for one product at a
    time. ``sums`` are zero between products."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.sums = np.zeros(0)
        self.kept: dict[str, Array] = {}
        self.results: dict[tuple[int, ...], Array] = {}

    def __enter__(self) -> Scratch:
        self.lock.acquire()
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is not None:
            self.sums = np.zeros(0)  # broken off, and so not zero
        self.lock.release()

    def zeros(self, *shape: int) -> Array:
        size = int(np.prod(shape))
        if self.sums.size < size:
            self.sums = np.zeros(size)
        return self.sums[:size].reshape(shape)

    def result(self, *shape: int) -> Array:
        """An array to hand out: the last one of that shape, if nobody holds it any longer, neither
        itself nor a view. In a solve each product would else touch as much new memory. Large ones
        are not kept: they come in large pages, and would count twice."""
        if np.prod(shape) > LARGE:
            return np.empty(shape)
        held = self.results.get(shape)
        if held is None or sys.getrefcount(held) > OWN_REFERENCES:
            if len(self.results) >= SHAPES:
                self.results.clear()
            held = self.results[shape] = np.empty(shape)
        return held

    def empty(self, name: str, *shape: int) -> Array:
        size = int(np.prod(shape))
        if name not in self.kept or self.kept[name].size < size:
            self.kept[name] = np.empty(size)
        return self.kept[name][:size].reshape(shape)


class Share(NamedTuple):
    """What one thread adds: rows first:last, columns begin:begin + width of the product, into the
    columns of ``sums`` from ``at`` on; and ``steps``, up to STEP numbers for what is between."""

    first: Any
    last: Any
    sums: Array
    at: Any
    begin: Any
    width: Any
    steps: Array


class Threaded:
    """What the two kinds of matrix share: threads, scratch, and which rows of X are meant."""

    shape: tuple[int, int]
    entries: int  # stored
    threads: int
    note: str
    listed: Array = ALL_ROWS

    def __init__(self, shape: tuple[int, int], entries: int, threads: int, kind: str) -> None:
        self.shape, self.entries, self.threads = shape, entries, threads
        self.note = f"numba: {threads} {'thread' if threads == 1 else 'threads'}, {kind}"
        self.scratch = Scratch()
        self.cuts: dict[int, Array] = {}

    def rows(self, index: Array) -> Any:
        """A view: those rows of the whole matrix, in that order, for the price of the index. It
        must lie within the matrix, since the loops do not look."""
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        view.listed = readonly(np.ascontiguousarray(index, dtype=np.int64)).view(np.uint64)
        view.shape = (len(index), self.shape[1])
        view.entries = view.count()
        view.cuts = {}
        return view

    def count(self) -> int:
        """The entries that are stored in the listed rows."""
        raise NotImplementedError

    def cut(self, threads: int) -> Array:
        """Where to cut the rows into ranges of like work, (threads + 1,)."""
        raise NotImplementedError

    def ranges(self, threads: int) -> Array:
        if threads not in self.cuts:
            self.cuts[threads] = self.cut(threads).astype(np.uint64)
        return self.cuts[threads]

    def each(self, work: Callable[[Any, Any], None]) -> None:
        """work(first, last) on each thread's range of rows."""
        cuts = self.ranges(self.threads)
        on_threads(lambda t: work(cuts[t], cuts[t + 1]), self.threads)

    def sum(self, out: Array, add: Callable[[Share], None]) -> Array:
        """out += the sums over rows to which ``add`` adds a share, on each thread. The first is
        added into out itself and the others into scratch, if they have more to add than to add up
        in the end."""
        if out.size == 0 or self.shape[0] == 0:
            return out
        table = out.reshape(len(out), -1)
        size, columns = table.shape
        ranges = int(np.clip(self.entries // size, 1, self.threads))
        width = min(columns, STEP if ranges == 1 else WIDTH)
        cuts = self.ranges(ranges)
        with self.scratch as scratch:
            steps = scratch.empty("steps", ranges, min(STEP, self.shape[0] * width))
            for begin in range(0, columns, width):
                wide = min(width, columns - begin)
                parts = scratch.zeros(ranges - 1, size, wide)
                shares = []
                for r in range(ranges):
                    sums, at = (table, begin) if r == 0 else (parts[r - 1], 0)
                    a, b, c = (np.uint64(number) for number in (at, begin, wide))
                    shares.append(Share(cuts[r], cuts[r + 1], sums, a, b, c, steps[r]))
                on_threads(lambda t, shares=shares: add(shares[t]), ranges)  # type: ignore[misc]
                if ranges > 1:
                    self.collect(parts, table, begin)
        return out

    def collect(self, parts: Array, table: Array, begin: int) -> None:
        threads = len(parts) + 1
        cuts = np.linspace(0, len(table), threads + 1).astype(np.uint64)
        at = np.uint64(begin)
        on_threads(lambda t: k.collect(parts, cuts[t], cuts[t + 1], table, at), threads)

    def checked(self, name: str, array: Any, length: int) -> Array:
        """As the loops read it, and of the right length: they would read past the end."""
        array = np.ascontiguousarray(array, dtype=np.float64)
        if array.ndim not in (1, 2) or len(array) != length:
            raise ValueError(f"{name} has the shape {array.shape}, where {length} rows are needed")
        return readonly(array)


def readonly(array: Array) -> Array:
    """The same memory, never to be written to: a memory-mapped array cannot be, and one type for
    all means one compilation."""
    array = np.asarray(array).view()
    array.flags.writeable = False
    return array
