"""Row partitions on the workers: what they are made of, and their facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import Future

from uids.datasets.elsewhere import Elsewhere
from uids.plugin import Array
from uids_dask.cluster import Cluster


@dataclass(eq=False)
class Blocks:
    """The partitions of one X, from the first row to the last.

    ``make(cluster)`` submits them. Those that are read from files Dask itself makes again when
    their worker dies; those that came from this process are sent again, since ``sent``.
    """

    cluster: Cluster
    make: Callable[[Cluster], list[Future]]
    heights: Sequence[int]
    width: int
    dtype: np.dtype[Any]
    sparse: bool
    stored: int
    all_ones: bool
    sent: bool = False
    _futures: list[Future] = field(default_factory=list)
    _epoch: int = -1

    @cached_property
    def bounds(self) -> Array:
        """Rows before each partition, and in all."""
        return np.concatenate([[0], np.cumsum(np.asarray(self.heights, dtype=np.int64))])

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.bounds[-1]), self.width

    @property
    def parts(self) -> list[Future]:
        lost = self.sent and self._epoch != self.cluster.epoch
        if not self._futures or lost:
            self._futures = self.make(self.cluster)
            self._epoch = self.cluster.epoch
        return self._futures

    def home(self, number: int) -> str:
        return self.cluster.home(number, len(self.heights))


@dataclass(eq=False)
class Partitioned(Elsewhere):
    """X as a data set of this package hands it over."""

    blocks: Blocks
    infinite: int | None = None

    backend = "dask"

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.blocks.shape

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        return self.blocks.dtype

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        return self.blocks.sparse

    @property
    def where(self) -> str:  # type: ignore[override]
        return f"on {self.blocks.cluster.note}"

    def fetch(self, index: Array) -> Any:
        from uids_dask.matrix import DaskMatrix

        return DaskMatrix(self.blocks).rows(index).fetch()


def stacked(parts: Sequence[Any], width: int, sparse: bool) -> Any:
    """Rows that were fetched, one below the other."""
    if not parts:
        return sp.csr_matrix((0, width)) if sparse else np.zeros((0, width))
    if len(parts) == 1:
        return parts[0]
    return sp.vstack(parts, format="csr") if sparse else np.vstack(parts)
