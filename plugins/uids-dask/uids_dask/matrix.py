"""X on the workers: every product is one task a partition, and sums go up a tree."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import Future

from uids.backends.auto import Auto
from uids.plugin import Array, Matrix
from uids.system.memory import refuse_beyond_memory
from uids_dask import partition as tasks
from uids_dask.cluster import Cluster
from uids_dask.cut import Cut
from uids_dask.partitioned import Blocks, stacked

FAN = 8  # terms that one task adds up: more would all have to be in a worker's memory at once
LAST = 4  # terms that are added up here, in the end
BLOCK_BYTES = 2**27  # of a partition of rows that come from this process, at most
SMALL = 2**24  # stored entries up to which rows that were fetched anyway stay here
THREADS = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class Held:
    """Numbers of the rows that lie with them, and are sent anew where they were lost."""

    def __init__(self, matrix: DaskMatrix, values: Array) -> None:
        self.matrix, self.values = matrix, values
        self.epoch, self._futures = -1, list[Any]()

    def futures(self) -> list[Any]:
        cluster = self.matrix.cluster
        if self.epoch != cluster.epoch:
            self._futures = self.matrix.send(self.values)
            self.epoch = cluster.epoch
        return self._futures


class DaskMatrix(Matrix):
    """The rows ``cut`` of the partitions ``blocks``. A view is a list of positions for each
    partition, which lies with it on its worker; X itself is there once."""

    def __init__(self, blocks: Blocks, cut: Cut | None = None) -> None:
        self.blocks, self.cluster = blocks, blocks.cluster
        self.cut = Cut(blocks.bounds) if cut is None else cut
        self.shape = len(self.cut), blocks.width
        kind = "0/1 features" if blocks.all_ones else "sparse" if blocks.sparse else "dense"
        self.note = f"dask: {len(blocks.heights)} partitions, {kind}, {self.cluster.note}"
        self._index: list[Any] = []
        self._index_epoch = -1

    @classmethod
    def of(cls, cluster: Cluster, X: Any) -> DaskMatrix:
        """Rows of this process, sent to the workers."""
        sparse = bool(sp.issparse(X))
        n = X.shape[0]
        stored = int(X.nnz if sparse else X.size)
        if sparse:
            X = X.tocsr()
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
        count = max(len(cluster.homes), -(-12 * stored // BLOCK_BYTES))
        bounds = np.linspace(0, n, max(1, min(n, count)) + 1).astype(np.int64)
        share = -(-count // len(cluster.homes))

        def make(cluster: Cluster) -> list[Future]:
            rows = [X[a:b] for a, b in pairwise(bounds)]
            homes = [cluster.home(i, len(rows)) for i in range(len(rows))]
            sent = cluster.send(rows, homes)
            return list(cluster.client.map(tasks.of_block, sent, share=share, pure=False))

        all_ones = sparse and bool((X.data == 1).all())
        heights = np.diff(bounds).tolist()
        shape = heights, X.shape[1], X.dtype, sparse, stored, all_ones
        return cls(Blocks(cluster, make, *shape, sent=True))

    # How a product is asked for.

    def send(self, values: Array) -> list[Any]:
        """Numbers of the rows to the partitions that they belong to."""
        homes = [self.blocks.home(i) for i in self.cut.used]
        return self.cluster.send(self.cut.shared(values), homes)

    def spread(self, value: Any) -> list[Any]:
        return self.cluster.spread(value, max(1, len(self.cut.used)))

    def held(self, values: Any) -> list[Any]:
        return values.futures() if isinstance(values, Held) else self.send(values)

    def index(self) -> list[Any]:
        """The positions in each partition, on its worker."""
        if self._index_epoch != self.cluster.epoch:
            local = self.cut.local()
            some = [k for k, rows in enumerate(local) if rows is not None]
            homes = [self.blocks.home(self.cut.used[k]) for k in some]
            self._index = [None] * len(local)
            sent = self.cluster.send([local[k] for k in some], homes)
            for k, rows in zip(some, sent, strict=True):
                self._index[k] = rows
            self._index_epoch = self.cluster.epoch
        return self._index

    def each(self, task: Callable[..., Any], *given: list[Any], **same: Any) -> list[Future]:
        """One task a partition, with what is given for each."""
        if not self.cut.used:
            return []
        parts = self.cut.first(self.blocks.parts)
        return list(self.cluster.client.map(task, parts, self.index(), *given, pure=False, **same))

    def rows_of(self, submit: Callable[[], list[Future]], shape: tuple[int, ...]) -> Array:
        pieces = self.cluster.ask(lambda: self.cluster.gather(submit()))
        return self.cut.joined(pieces, shape)

    def sum_of(
        self, submit: Callable[[], list[Future]], shape: tuple[int, ...], add: Any = tasks.added
    ) -> Array:
        def total() -> list[Array]:
            return self.cluster.gather(self.tree(submit(), add))

        terms = self.cluster.ask(total) if self.cut.used else []
        return own(tasks.added(terms), len(terms)) if terms else np.zeros(shape)

    def tree(self, futures: list[Future], add: Any = tasks.added) -> list[Future]:
        """Their sums, no more than ``LAST`` of them. What lies on one worker is added up there
        first; the order is that of the partitions, wherever these are."""
        client, groups = self.cluster.client, self.groups()
        while True:
            several = [group for group in groups if len(group) > 1 or add is not tasks.added]
            if not several:
                break
            sums: dict[int, Future] = {}
            shorter = []
            for group in groups:
                heads = []
                for first in range(0, len(group), FAN):
                    some = group[first : first + FAN]
                    heads.append(some[0])
                    if len(some) > 1 or add is not tasks.added:
                        terms = [futures[k] for k in some]
                        sums[some[0]] = client.submit(add, terms, pure=False)
                shorter.append(heads)
            futures = [sums.get(k, future) for k, future in enumerate(futures)]
            groups, add = shorter, tasks.added
        ends = [futures[group[0]] for group in groups]
        while len(ends) > LAST:
            ends = [
                client.submit(tasks.added, ends[first : first + FAN], pure=False)
                for first in range(0, len(ends), FAN)
            ]
        return ends

    def groups(self) -> list[list[int]]:
        """The used partitions by the worker that they were meant for."""
        count, workers = len(self.blocks.heights), len(self.cluster.homes)
        found: dict[int, list[int]] = {}
        for k, i in enumerate(self.cut.used):
            found.setdefault(i * workers // count, []).append(k)
        return list(found.values())

    @cached_property
    def here(self) -> Matrix | None:
        """Few rows, in this process: for products that are over before a task would begin."""
        few = 0 < self.stored <= self.cluster.settings.small
        return Auto().matrix(self.fetch()) if few else None

    # Products.

    def dot(self, V: Array) -> Array:
        if self.here:
            return self.here.dot(V)
        V = np.asarray(V, dtype=np.float64)
        return self.rows_of(lambda: self.each(tasks.dot, self.spread(V)), V.shape[1:])

    def tdot(self, U: Array) -> Array:
        if self.here:
            return self.here.tdot(U)
        shape = self.shape[1], *U.shape[1:]
        return self.sum_of(lambda: self.each(tasks.tdot, self.held(U)), shape)

    def square_tdot(self, W: Array) -> Array:
        if self.here:
            return self.here.square_tdot(W)
        shape = self.shape[1], *W.shape[1:]
        return self.sum_of(lambda: self.each(tasks.square_tdot, self.held(W)), shape)

    def gram_dot(self, w: Any, V: Array) -> Array:
        if self.here:
            return self.here.gram_dot(w, V)
        V = np.asarray(V, dtype=np.float64)
        return self.sum_of(lambda: self.each(tasks.gram_dot, self.spread(V), self.held(w)), V.shape)

    def scored_dot(self, w: Any, v: Array) -> tuple[Array, Array]:
        if self.here:
            return self.here.scored_dot(w, v)
        v = np.asarray(v, dtype=np.float64)

        def both() -> tuple[list[Array], list[Array]]:
            pairs = self.each(tasks.scored_dot, self.spread(v), self.held(w))
            scores = self.cluster.client.map(tasks.pick, pairs, place=1, pure=False)
            sums = self.tree(pairs, tasks.added_firsts)
            gathered = self.cluster.gather([*sums, *scores])
            return gathered[: len(sums)], gathered[len(sums) :]

        if not self.cut.used:
            return np.zeros(v.shape), np.zeros(self.shape[0])
        terms, pieces = self.cluster.ask(both)
        return own(tasks.added(terms), len(terms)), self.cut.joined(pieces, ())

    def class_dot(
        self, P: Any, w: Any, V: Array, shift: Array | None = None
    ) -> tuple[Array, Array | None]:
        if self.here:
            return self.here.class_dot(P, w, V, shift)
        V = np.asarray(V, dtype=np.float64)
        shape = len(V) + (shift is not None), V.shape[1]

        def submit() -> list[Future]:
            weights = [None] * len(self.cut.used) if w is None else self.held(w)
            return self.each(tasks.class_dot, self.spread((V, shift)), self.held(P), weights)

        product = self.sum_of(submit, shape)
        return (product, None) if shift is None else (product[:-1], product[-1])

    def hold(self, values: Array) -> Any:
        return values if self.here else Held(self, values)

    def gram(self, w: Any) -> Array:
        if self.here:
            return self.here.gram(w)
        d = self.shape[1]
        return self.sum_of(lambda: self.each(tasks.gram, self.held(w)), (d, d))

    def quadratic(self, A: Array) -> Array:
        if self.here:
            return self.here.quadratic(A)
        A = np.asarray(A, dtype=np.float64)
        return self.rows_of(lambda: self.each(tasks.quadratic, self.spread(A)), ())

    def row_squares(self) -> Array:
        if self.here:
            return self.here.row_squares()
        return self.rows_of(lambda: self.each(tasks.row_squares), ())

    def outer(self) -> Array:
        return Auto().matrix(self.fetch()).outer()

    # Facts.

    @property
    def sparse(self) -> bool:
        return self.blocks.sparse

    @cached_property
    def _stored(self) -> int:
        if self.cut.index is None:
            return self.blocks.stored
        if not self.sparse:
            return self.shape[0] * self.shape[1]
        return sum(self.cluster.ask(lambda: self.cluster.gather(self.each(tasks.stored))))

    @property
    def stored(self) -> int:
        return self._stored

    @property
    def all_ones(self) -> bool:
        return self.blocks.all_ones

    @property
    def threads(self) -> int:
        """Of this process, for work on vectors of the rows while the workers wait."""
        return THREADS

    def uses_blas(self, columns: int) -> bool:
        return False

    def fingerprint(self) -> str:
        prints = self.cluster.ask(lambda: self.cluster.gather(self.each(tasks.fingerprint)))
        seen = hashlib.sha256(repr((self.shape, self.cut.used, prints)).encode())
        if self.cut.index is not None:
            seen.update(np.ascontiguousarray(self.cut.index).data)
        return seen.hexdigest()

    # Parts.

    def _rows(self, index: Array) -> Matrix:
        if self.here:
            return self.here.rows(index)
        return DaskMatrix(self.blocks, self.cut.take(index))

    def columns(self, index: Array) -> Matrix:
        if self.here:
            return self.here.columns(index)
        if self.stored <= SMALL:
            return self.like(self.fetch()[:, index])
        return DaskMatrix(self.narrowed(np.asarray(index)))

    def narrowed(self, index: Array) -> Blocks:
        """These rows and columns, as partitions of their own."""

        def make(cluster: Cluster) -> list[Future]:
            return self.each(tasks.columns, self.spread(index))

        heights = np.diff(self.cut.ends)[self.cut.used].tolist()
        about = len(index), self.blocks.dtype, self.sparse
        cut = Blocks(self.cluster, make, heights, *about, 0, self.all_ones, sent=True)
        blocks = DaskMatrix(cut)
        counts = self.cluster.ask(lambda: self.cluster.gather(blocks.each(tasks.stored)))
        cut.stored = sum(counts)
        return cut

    def like(self, X: Any) -> Matrix:
        """Few rows are quicker here than there."""
        stored = int(X.nnz if sp.issparse(X) else X.size)
        return Auto().matrix(X) if stored <= SMALL else DaskMatrix.of(self.cluster, X)

    def fetch(self) -> Any:
        refuse_beyond_memory(12 * self.stored, "X in this process", "ask for fewer rows")
        pieces = self.cluster.ask(lambda: self.cluster.gather(self.each(tasks.fetch)))
        X = stacked(pieces, self.shape[1], self.sparse)
        if self.cut.order is None:
            return X
        places = np.empty(len(self.cut), dtype=np.int64)
        places[self.cut.order] = np.arange(len(self.cut))
        return X[places]


def own(total: Array, terms: int) -> Array:
    """A sum of several is a new array; a single term may be a worker's, or not to be written to."""
    return total if terms > 1 else np.array(total)
