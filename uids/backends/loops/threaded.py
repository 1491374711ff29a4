"""Work on rows shared out to threads, for the backend numba.

Every thread has its own part of X and the sums are added up in a fixed order. So a product is the
same every time, and with another number of threads it differs by rounding only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from uids.backends.host import Host, HostMatrix
from uids.backends.loops.kernels import sums as k
from uids.backends.loops.scratch import Scratch, readonly
from uids.backends.matrix import Array, Matrix
from uids.system.threads import on_threads

STEP = 2**18  # numbers between the two loops of a fused product: 2 MiB for each thread
WIDTH = 8  # columns added into scratch at once: as many as a cache line holds
ALL_ROWS = np.empty(0, dtype=np.uint64)


class Share(NamedTuple):
    """What one thread adds: rows first:last, columns begin:begin + width of the product, into the
    columns of ``sums`` from ``offset`` on; ``steps`` has room for up to STEP numbers in between."""

    first: Any
    last: Any
    sums: Array
    offset: Any
    begin: Any
    width: Any
    steps: Array


class Threaded(HostMatrix):
    """What the two kinds of matrix share: threads, scratch, and which rows of X are meant."""

    listed: Array = ALL_ROWS

    def __init__(self, host: Host, threads: int, kind: str) -> None:
        count = f"{threads} {'thread' if threads == 1 else 'threads'}"
        super().__init__(host, f"numba: {count}, {kind}")
        self._threads = threads
        self.entries = host.stored
        self.scratch = Scratch()
        self.cuts: dict[int, Array] = {}

    @property
    def threads(self) -> int:
        return self._threads

    @property
    def stored(self) -> int:
        return self.entries

    def _rows(self, index: Array) -> Matrix:
        """A view: those rows of the whole matrix, in that order, for the price of the index. The
        loops do not check the index; ``rows`` has."""
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        view.whole = self.whole or self
        view.host = self.host.take(index)
        view.listed = readonly(np.ascontiguousarray(view.host.index)).view(np.uint64)
        view.shape = view.host.shape
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
                    sums, offset = (table, begin) if r == 0 else (parts[r - 1], 0)
                    a, b, c = (np.uint64(number) for number in (offset, begin, wide))
                    shares.append(Share(cuts[r], cuts[r + 1], sums, a, b, c, steps[r]))
                on_threads(lambda t, shares=shares: add(shares[t]), ranges)  # type: ignore[misc]
                if ranges > 1:
                    self.collect(parts, table, begin)
        return out

    def collect(self, parts: Array, table: Array, begin: int) -> None:
        threads = len(parts) + 1
        cuts = np.linspace(0, len(table), threads + 1).astype(np.uint64)
        offset = np.uint64(begin)
        on_threads(lambda t: k.collect(parts, cuts[t], cuts[t + 1], table, offset), threads)

    def checked(self, name: str, array: Any, length: int) -> Array:
        """As the loops read it, and of the right length: they would read past the end."""
        array = np.ascontiguousarray(array, dtype=np.float64)
        if array.ndim not in (1, 2) or len(array) != length:
            raise ValueError(f"{name} has the shape {array.shape}, where {length} rows are needed")
        return readonly(array)
