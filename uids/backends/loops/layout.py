"""How the entries of a CSR matrix lie for the loops of the backend ``numba``."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np

from uids.backends import Array
from uids.backends.loops import kernels as k
from uids.backends.loops.threaded import readonly
from uids.system.memory import memory
from uids.system.threads import on_threads

RENAMED_ENTRIES = 5_000_000  # stored, from which a fit wins back what renaming takes
RENAMED_COLUMNS = 2**15  # fewer stay in the cache in any order
RENAMED_SHARE = 8  # of the main memory, one part of which the renamed indices may take


@dataclass(frozen=True)
class Layout:
    """``data`` is None where every stored value is 1.

    ``order`` lists the columns by frequency, and ``place`` is where each column then stands. Most
    entries of a click log are of a few thousand columns: side by side they stay in the cache, which
    scattered among a million others they do not, each with seven strangers on its cache line.
    """

    data: Array | None
    indices: Array
    starts: Array
    ends: Array
    order: Array | None = None
    place: Array | None = None

    def pays_renaming(self, columns: int) -> bool:
        large = len(self.indices) >= RENAMED_ENTRIES and columns >= RENAMED_COLUMNS
        fits = self.indices.nbytes <= memory() / RENAMED_SHARE
        return self.data is None and self.order is None and large and fits

    def by_frequency(self, columns: int, threads: int) -> Layout:
        """The same entries with the columns renamed, at the price of a copy of the indices."""
        counts = np.zeros(columns, dtype=np.int64)
        k.count_columns(self.indices, counts)
        order = np.argsort(-counts, kind="stable")
        place = np.empty(columns, dtype=np.intp)  # as np.take reads it
        place[order] = np.arange(columns)
        indices, names = np.empty_like(self.indices), place.astype(self.indices.dtype)
        cuts = np.linspace(0, len(indices), threads + 1).astype(np.uint64)
        on_threads(lambda t: k.rename(self.indices, names, cuts[t], cuts[t + 1], indices), threads)
        release(self.indices)
        return Layout(None, readonly(indices), self.starts, self.ends, order, place)


def moved(V: Array, order: Array, out: Array, threads: int) -> Array:
    """out = V[order], on several threads."""
    cuts = np.linspace(0, len(order), threads + 1).astype(int)

    def take(t: int) -> None:
        part = slice(cuts[t], cuts[t + 1])
        np.take(V, order[part], axis=0, out=out[part], mode="clip")

    on_threads(take, threads)
    return out


def release(array: Any) -> None:
    """Tells the system that the pages of an array that is mapped from a file to be read only are
    not needed soon: they stay in the file, and no longer count as this process's memory."""
    while isinstance(array, np.ndarray):
        readable = isinstance(array, np.memmap) and array.mode == "r"
        if readable and isinstance(array.base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            array.base.madvise(mmap.MADV_DONTNEED)
        array = array.base
