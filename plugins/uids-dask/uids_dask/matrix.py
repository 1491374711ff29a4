"""X on the workers, as uids sees a matrix."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import Future

from uids.backends.auto import Auto
from uids.plugin import Array, Matrix
from uids.system.memory import refuse_beyond_memory
from uids.system.tuning import BACKEND_CHOICE
from uids_dask import partition as tasks
from uids_dask.asked import Asked, Held, total_of
from uids_dask.cluster import Cluster
from uids_dask.cut import Cut
from uids_dask.graph import Graph
from uids_dask.partitioned import Blocks, stacked

BLOCK_BYTES = 2**27  # of a partition of rows that come from this process, at most
SMALL = 2**24  # stored entries up to which rows that were fetched anyway stay here
THREADS = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class DaskMatrix(Asked, Matrix):
    """The rows ``cut`` of the partitions ``blocks``. A view is a list of positions for each
    partition, which lies with it on its worker; X itself is there once."""

    def __init__(self, blocks: Blocks, cut: Cut | None = None) -> None:
        self.blocks, self.cluster = blocks, blocks.cluster
        self.cut = Cut(blocks.bounds) if cut is None else cut
        self.shape = len(self.cut), blocks.width
        kind = "0/1 features" if blocks.all_ones else "sparse" if blocks.sparse else "dense"
        self.note = f"dask: {len(blocks.heights)} partitions, {kind}, {self.cluster.note}"

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

    @cached_property
    def here(self) -> Matrix | None:
        """Few rows, in this process: for products that are over before a task would begin."""
        few = 0 < self.stored <= self.cluster.settings.small
        return self.by_loops(self.fetch()) if few else None

    # Products.

    def dot(self, V: Array) -> Array:
        if self.here:
            return self.here.dot(V)
        V = np.asarray(V, dtype=np.float64)
        return self.rows_of(lambda graph: self.each(graph, tasks.dot, self.spread(V)), V.shape[1:])

    def tdot(self, U: Array) -> Array:
        if self.here:
            return self.here.tdot(U)
        shape = self.shape[1], *U.shape[1:]
        return self.sum_of(lambda graph: self.each(graph, tasks.tdot, self.held(U)), shape)

    def square_tdot(self, W: Array) -> Array:
        if self.here:
            return self.here.square_tdot(W)
        shape = self.shape[1], *W.shape[1:]
        return self.sum_of(lambda graph: self.each(graph, tasks.square_tdot, self.held(W)), shape)

    def gram_dot(self, w: Any, V: Array) -> Array:
        if self.here:
            return self.here.gram_dot(w, V)
        V = np.asarray(V, dtype=np.float64)

        def asked(graph: Graph) -> list[str]:
            return self.each(graph, tasks.gram_dot, self.spread(V), self.held(w))

        return self.sum_of(asked, V.shape)

    def scored_dot(self, w: Any, v: Array) -> tuple[Array, Array]:
        if self.here:
            return self.here.scored_dot(w, v)
        v = np.asarray(v, dtype=np.float64)

        def both() -> tuple[Array, Array]:
            graph = Graph(self.cluster)
            pairs = self.each(graph, tasks.scored_dot, self.spread(v), self.held(w))
            scores = [graph.add(tasks.pick, pair, 1) for pair in pairs]
            sums = self.tree(graph, pairs, tasks.added_firsts)
            count = len(sums)

            def use(found: list[Array]) -> tuple[Array, Array]:
                return total_of(found[:count]), self.cut.joined(found[count:], ())

            shapes = [*[v.shape] * count, *self.shapes(())]
            return graph.numbers([*sums, *scores], shapes, use)

        if not self.cut.used:
            return np.zeros(v.shape), np.zeros(self.shape[0])
        return self.cluster.ask(both)

    def class_dot(
        self, P: Any, w: Any, V: Array, shift: Array | None = None
    ) -> tuple[Array, Array | None]:
        if self.here:
            return self.here.class_dot(P, w, V, shift)
        V = np.asarray(V, dtype=np.float64)
        shape = len(V) + (shift is not None), V.shape[1]

        def asked(graph: Graph) -> list[str]:
            weights = [None] * len(self.cut.used) if w is None else self.held(w)
            both = self.spread(V), self.spread(shift)
            return self.each(graph, tasks.class_dot, *both, self.held(P), weights)

        product = self.sum_of(asked, shape)
        return (product, None) if shift is None else (product[:-1], product[-1])

    def hold(self, values: Array) -> Any:
        return values if self.here else Held(self, values)

    def gram(self, w: Any) -> Array:
        if self.here:
            return self.here.gram(w)
        d = self.shape[1]
        return self.sum_of(lambda graph: self.each(graph, tasks.gram, self.held(w)), (d, d))

    def quadratic(self, A: Array) -> Array:
        if self.here:
            return self.here.quadratic(A)
        A = np.asarray(A, dtype=np.float64)
        return self.rows_of(lambda graph: self.each(graph, tasks.quadratic, self.spread(A)), ())

    def row_squares(self) -> Array:
        if self.here:
            return self.here.row_squares()
        return self.rows_of(lambda graph: self.each(graph, tasks.row_squares), ())

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
        return sum(self.told(tasks.stored))

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
        prints = self.told(tasks.fingerprint)
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
            return self.like(self.fetch(np.asarray(index)))
        return DaskMatrix(self.narrowed(np.asarray(index)))

    def narrowed(self, index: Array) -> Blocks:
        """These rows and columns, as partitions of their own."""

        def make(cluster: Cluster) -> list[Future]:
            graph = Graph(cluster)
            return graph.futures(self.each(graph, tasks.columns, self.spread(index)))

        heights = np.diff(self.cut.ends)[self.cut.used].tolist()
        about = len(index), self.blocks.dtype, self.sparse
        cut = Blocks(self.cluster, make, heights, *about, 0, self.all_ones, sent=True)
        blocks = DaskMatrix(cut)
        cut.stored = sum(blocks.told(tasks.stored))
        return cut

    def like(self, X: Any) -> Matrix:
        """Few rows are quicker here than there."""
        stored = int(X.nnz if sp.issparse(X) else X.size)
        return DaskMatrix.of(self.cluster, X) if stored > SMALL else self.by_loops(X)

    def by_loops(self, X: Any) -> Matrix:
        """In this process, by the loops that all of X would be worth: a fit has the Gram matrix of
        a sample made again and again."""
        least = BACKEND_CHOICE.sparse_entries if self.sparse else BACKEND_CHOICE.dense_entries
        if self.blocks.stored < least or find_spec("numba") is None:
            return Auto().matrix(X)
        from uids.backends.numba import Numba

        return Numba().matrix(X)

    def fetch(self, columns: Array | None = None) -> Any:
        """With these columns alone, where some are given."""
        refuse_beyond_memory(12 * self.stored, "X in this process", "ask for fewer rows")
        width = self.shape[1] if columns is None else len(columns)
        X = stacked(self.told(tasks.fetch, columns), width, self.sparse)
        if self.cut.order is None:
            return X
        places = np.empty(len(self.cut), dtype=np.int64)
        places[self.cut.order] = np.arange(len(self.cut))
        return X[places]
