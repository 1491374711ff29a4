"""How the entries of a CSR matrix lie for the loops of the backend ``numba``."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uids.backends import Array
from uids.backends import kernels as k
from uids.backends.threads import readonly
from uids.machine import memory
from uids.parallel import on_threads

RENAMED_ENTRIES = 5_000_000  # stored, from which a fit wins back what renaming takes
RENAMED_COLUMNS = 2**15  # fewer stay in the cache in any order
RENAMED_SHARE = 8  # of the main memory, one part of which the renamed indices may take


@dataclass(frozen=True)
class Layout:
    """``data`` is None where every stored value is 1. The columns are shared out to ``groups`` of
    threads; ``bounds`` are groups + 1 arrays, of each row the places between which the entries of
    each group lie.

    ``order`` lists the columns by frequency, and ``place`` is where each column then stands. Most
    entries of a click log are of a few thousand columns: side by side they stay in the cache, which
    scattered among a million others they do not, each with seven strangers on its cache line.
    """

    data: Array | None
    indices: Array
    starts: Array
    ends: Array
    groups: int
    renamed_bounds: tuple[Array, ...] = ()
    order: Array | None = None
    place: Array | None = None

    @cached_property
    def bounds(self) -> tuple[Array, ...]:
        if self.renamed_bounds:
            return self.renamed_bounds
        some = self.indices[:: max(1, len(self.indices) // 2**16)]
        inner = []
        for group in range(1, self.groups):
            column = np.quantile(some, group / self.groups).astype(self.indices.dtype)
            inner.append(np.empty_like(self.starts))
            k.csr_split(self.indices, self.starts, self.ends, column, inner[-1])
        return (self.starts, *map(readonly, inner), self.ends)

    def pays_renaming(self, columns: int) -> bool:
        large = len(self.indices) >= RENAMED_ENTRIES and columns >= RENAMED_COLUMNS
        fits = self.indices.nbytes <= memory() / RENAMED_SHARE
        return self.data is None and self.order is None and large and fits

    def by_frequency(self, columns: int, threads: int) -> Layout:
        """The same entries with the columns renamed, at the price of a copy of the indices. The
        groups take the columns in turn, and so have the same share of the frequent ones."""
        counts = np.zeros(columns, dtype=np.int64)
        k.count_columns(self.indices, counts)
        ranking = np.argsort(-counts, kind="stable")
        order = np.concatenate([ranking[group :: self.groups] for group in range(self.groups)])
        place = np.empty(columns, dtype=np.intp)  # as np.take reads it
        place[order] = np.arange(columns)
        firsts = np.cumsum([0] + [len(ranking[g :: self.groups]) for g in range(self.groups)])
        indices = np.empty_like(self.indices)
        inner = np.empty((self.groups - 1, len(self.starts)), dtype=self.starts.dtype)
        cuts = np.linspace(0, len(self.starts), threads + 1).astype(np.uint64)
        kind = self.indices.dtype
        arrays = self.indices, self.starts, self.ends, place.astype(kind), firsts.astype(kind)

        def rename(t: int) -> None:
            k.csr_rename(*arrays, cuts[t], cuts[t + 1], indices, inner)

        on_threads(rename, threads)
        release(self.indices)
        bounds = (self.starts, *map(readonly, inner), self.ends)
        return Layout(
            None, readonly(indices), self.starts, self.ends, self.groups, bounds, order, place
        )


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
