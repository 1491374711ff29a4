"""Numbers that the processes of one machine hand to one another through its memory.

They lie in a file that is in memory alone and has no name: other processes of the same user open it
by way of the process that made it, and it is gone with the last that has it open. So nothing is
left behind, whoever dies.
"""

from __future__ import annotations

import mmap
import os
import sys
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock
from typing import Any

import numpy as np

from uids.plugin import Array

KEPT = 4  # files for the next numbers of that size: new pages take five times as long to write
LARGE = 2**26  # bytes, from which on a file is neither kept nor mapped


@dataclass(frozen=True)
class File:
    """Of the process that made it; ``inode`` tells it from another that this process may have open
    under the same number later."""

    process: int
    number: int
    inode: int
    size: int

    def open(self, flag: int) -> int:
        number = os.open(f"/proc/{self.process}/fd/{self.number}", flag)
        if os.fstat(number).st_ino != self.inode:
            os.close(number)
            raise FileNotFoundError("what was lent is there no longer")
        return number


@lru_cache(maxsize=2 * KEPT)
def mapped(file: File) -> mmap.mmap:
    """Its pages, without a copy."""
    number = file.open(os.O_RDWR)
    try:
        return mmap.mmap(number, file.size, mmap.MAP_SHARED | mmap.MAP_POPULATE)
    finally:
        os.close(number)


@dataclass(frozen=True)
class Lent:
    """Float64 in a file, from the byte ``begin`` on. What is pickled is where they are: they are
    there as long as the process that made the file has a ``Lent`` of it."""

    file: File
    begin: int
    shape: tuple[int, ...]
    owner: Any = None

    @property
    def small(self) -> bool:
        return 0 < self.file.size < LARGE

    def array(self) -> Array:
        """The memory itself."""
        count = int(np.prod(self.shape))
        return np.frombuffer(mapped(self.file), count=count, offset=self.begin).reshape(self.shape)

    def read(self) -> Array:
        """Not to be written to."""
        values = self.array() if self.small else np.empty(self.shape)
        if not self.small:
            self.through(values, os.O_RDONLY, os.preadv)
        values.flags.writeable = False
        return values

    def write(self, values: Array) -> None:
        if values.shape != self.shape:
            raise ValueError(f"numbers of shape {values.shape} where {self.shape} are awaited")
        if self.small:
            np.copyto(self.array(), values)
        else:
            values = np.ascontiguousarray(values, dtype=np.float64)
            self.through(values, os.O_WRONLY, os.pwritev)

    def through(self, values: Array, flag: int, move: Callable[[int, Any, int], int]) -> None:
        number = self.file.open(flag)
        try:
            rest, done = values.reshape(-1).view(np.uint8).data, 0
            while done < len(rest):  # the system moves up to two gigabytes at once
                moved = move(number, [rest[done:]], self.begin + done)
                if not moved:
                    raise EOFError("nobody has written what is to be read")
                done += moved
        finally:
            os.close(number)

    def __reduce__(self) -> Any:
        return Lent, (self.file, self.begin, self.shape)


class Owner:
    """Of a file: when nobody has it any longer, it is closed, or kept for others where that is
    ``safe``: no other process may still write to it."""

    def __init__(self, lender: Lender, file: File, safe: bool) -> None:
        self.fate = {"safe": safe}
        weakref.finalize(self, lender.back, file, self.fate)


class Lender:
    """The files of this process."""

    def __init__(self) -> None:
        self.kept: list[File] = []  # the last that came back at the end
        self.lock = RLock()  # one may come back in the midst of anything

    def room(self, shapes: Sequence[tuple[int, ...]], safe: bool = False) -> list[Lent]:
        """In one file, for others to write to."""
        ends = np.cumsum([0, *(8 * int(np.prod(shape)) for shape in shapes)]).tolist()
        file = self.file(ends[-1])
        owner = Owner(self, file, safe)
        return [Lent(file, a, shape, owner) for a, shape in zip(ends, shapes, strict=False)]

    def lend(self, values: Sequence[Array]) -> list[Lent]:
        lent = self.room([value.shape for value in values], safe=True)
        for place, value in zip(lent, values, strict=True):
            place.write(value)
        return lent

    def file(self, size: int) -> File:
        if sys.platform != "linux":
            raise OSError("files in memory that have no name are Linux's")
        with self.lock:
            for place, known in enumerate(self.kept):
                if known.size == size:
                    return self.kept.pop(place)
        number = os.memfd_create("uids-dask")
        os.ftruncate(number, size)
        return File(os.getpid(), number, os.fstat(number).st_ino, size)

    def back(self, file: File, fate: dict[str, bool]) -> None:
        with self.lock:
            closed = [file]
            if fate["safe"] and file.size < LARGE:
                self.kept.append(file)
                closed = [self.kept.pop(0)] if len(self.kept) > KEPT else []
        for each in closed:
            os.close(each.number)
