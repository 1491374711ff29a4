"""Memory that products use again, for the backend numba."""

from __future__ import annotations

import sys
from threading import RLock
from typing import Any

import numpy as np

from uids.backends.matrix import Array

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


def readonly(array: Array) -> Array:
    """The same memory, never to be written to: a memory-mapped array cannot be, and one type for
    all means one compilation."""
    array = np.asarray(array).view()
    array.flags.writeable = False
    return array
