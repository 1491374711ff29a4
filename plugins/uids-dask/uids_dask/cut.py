"""Which rows of which partition a matrix is of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uids.plugin import Array


@dataclass(frozen=True)
class Cut:
    """Rows ``index`` of all, or all of them where it is None, shared out to the partitions, of
    which the first has rows bounds[0]:bounds[1]. Only those that have a row are ``used``."""

    bounds: Array
    index: Array | None = None

    def __len__(self) -> int:
        return int(self.bounds[-1]) if self.index is None else len(self.index)

    @cached_property
    def order(self) -> Array | None:
        """Where rows are not in the order of the partitions: positions in ``index`` that are."""
        if self.index is None or (self.index[1:] >= self.index[:-1]).all():
            return None
        return np.argsort(self.index, kind="stable")

    @cached_property
    def ends(self) -> Array:
        """How many of the rows, in order, come before each partition, and in all."""
        if self.index is None:
            return self.bounds
        rising = self.index if self.order is None else self.index[self.order]
        return np.searchsorted(rising, self.bounds)

    @cached_property
    def used(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(np.diff(self.ends))]

    def local(self) -> list[Array | None]:
        """Of each used partition the positions among its own rows; None for all of them, once."""
        if self.index is None:
            return [None] * len(self.used)
        rising = self.index if self.order is None else self.index[self.order]
        found: list[Array | None] = []
        for i in self.used:
            begin, end = self.bounds[i], self.bounds[i + 1]
            rows = rising[self.ends[i] : self.ends[i + 1]] - begin
            whole = len(rows) == end - begin and bool((np.diff(rows) == 1).all())
            narrow = np.int32 if end - begin < 2**31 else np.int64
            found.append(None if whole else rows.astype(narrow))
        return found

    def shared(self, values: Array) -> list[Array]:
        """Numbers of the rows, (n, …), as those of each used partition."""
        values = values if self.order is None else values[self.order]
        return [np.ascontiguousarray(values[self.ends[i] : self.ends[i + 1]]) for i in self.used]

    def joined(self, pieces: list[Array], shape: tuple[int, ...]) -> Array:
        """The inverse."""
        out = np.empty((len(self), *shape))
        if not pieces:
            return out
        if self.order is None:
            return np.asarray(np.concatenate(pieces, out=out))
        out[self.order] = np.concatenate(pieces)
        return out

    def take(self, index: Array) -> Cut:
        return Cut(self.bounds, index if self.index is None else self.index[index])

    def first(self, values: list[Any]) -> list[Any]:
        """Of a list for all partitions, those of the used ones."""
        return [values[i] for i in self.used]
