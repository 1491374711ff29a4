"""How the entries of a CSR matrix lie for the loops of the backend ``numba``."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np

from uids.backends.loops.kernels import csr as k
from uids.backends.loops.scratch import readonly
from uids.backends.matrix import Array
from uids.system.memory import memory
from uids.system.threads import on_threads
from uids.system.tuning import Loops


@dataclass(frozen=True)
class Layout:
    """``data`` is None where every stored value is 1.

    ``permutation`` lists the columns by frequency; ``inverse`` is where each column then stands.
    Most entries of a click log are of a few thousand columns: side by side they stay in the cache,
    which scattered among a million others they do not, each with seven strangers on its line.
    """

    data: Array | None
    indices: Array
    starts: Array
    ends: Array
    permutation: Array | None = None
    inverse: Array | None = None

    def pays_renaming(self, columns: int, tuning: Loops) -> bool:
        many = len(self.indices) >= tuning.renamed_entries
        large = many and columns >= tuning.renamed_columns
        fits = self.indices.nbytes <= memory() / tuning.memory_share
        return self.data is None and self.permutation is None and large and fits

    def by_frequency(self, columns: int, threads: int) -> Layout:
        """The same entries with the columns renamed, at the price of a copy of the indices."""
        counts = np.zeros(columns, dtype=np.int64)
        k.count_columns(self.indices, counts)
        permutation = np.argsort(-counts, kind="stable")
        inverse = np.empty(columns, dtype=np.intp)  # as np.take reads it
        inverse[permutation] = np.arange(columns)
        indices, names = np.empty_like(self.indices), inverse.astype(self.indices.dtype)
        cuts = np.linspace(0, len(indices), threads + 1).astype(np.uint64)
        on_threads(lambda t: k.rename(self.indices, names, cuts[t], cuts[t + 1], indices), threads)
        release(self.indices)
        return Layout(None, readonly(indices), self.starts, self.ends, permutation, inverse)


def permuted(V: Array, permutation: Array, out: Array, threads: int) -> Array:
    """out = V[permutation], on several threads."""
    cuts = np.linspace(0, len(permutation), threads + 1).astype(int)

    def take(t: int) -> None:
        part = slice(cuts[t], cuts[t + 1])
        np.take(V, permutation[part], axis=0, out=out[part], mode="clip")

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
