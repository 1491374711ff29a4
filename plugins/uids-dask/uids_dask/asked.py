"""How a product is asked for: one task a partition, and sums go up a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from uids.plugin import Array
from uids_dask import partition as tasks
from uids_dask.cluster import Cluster
from uids_dask.cut import Cut
from uids_dask.graph import Graph
from uids_dask.partitioned import Blocks

FAN = 8  # terms that one task adds up: more would all have to be in a worker's memory at once
LAST = 4  # terms that are added up here, in the end


class Held:
    """Numbers of the rows that lie with them, and are sent anew where they were lost."""

    def __init__(self, matrix: Asked, values: Array) -> None:
        self.matrix, self.values = matrix, values
        self.epoch, self._futures = -1, list[Any]()

    def futures(self) -> list[Any]:
        cluster = self.matrix.cluster
        if self.epoch != cluster.epoch:
            self._futures = self.matrix.send(self.values)
            self.epoch = cluster.epoch
        return self._futures


class Asked:
    """The rows ``cut`` of the partitions ``blocks``, on the workers of a cluster."""

    blocks: Blocks
    cut: Cut
    cluster: Cluster
    _index: list[Any]
    _index_epoch = -1

    def send(self, values: Array) -> list[Any]:
        """Numbers of the rows to the partitions that they belong to."""
        homes = [self.blocks.home(i) for i in self.cut.used]
        return self.cluster.lend(self.cut.shared(values), homes)

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

    def each(self, graph: Graph, task: Callable[..., Any], *given: list[Any]) -> list[str]:
        """One task a partition, with what is given for each."""
        if not self.cut.used:
            return []
        parts = self.cut.first(self.blocks.parts)
        every = zip(parts, self.index(), *given, strict=True)
        return [graph.add(task, *own) for own in every]

    def told(self, task: Callable[..., Any], *same: Any) -> list[Any]:
        """What the task says of each partition."""

        def results() -> list[Any]:
            graph = Graph(self.cluster)
            return graph.results(self.each(graph, task, *map(self.spread, same)))

        return self.cluster.ask(results)

    def rows_of(self, asked: Callable[[Graph], list[str]], shape: tuple[int, ...]) -> Array:
        def rows() -> Array:
            graph = Graph(self.cluster)
            names = asked(graph)
            return graph.numbers(names, self.shapes(shape), lambda p: self.cut.joined(p, shape))

        return self.cluster.ask(rows)

    def shapes(self, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Of numbers of the rows, in each used partition."""
        heights = np.diff(self.cut.ends)[self.cut.used].tolist()
        return [(height, *shape) for height in heights]

    def sum_of(self, asked: Callable[[Graph], list[str]], shape: tuple[int, ...]) -> Array:
        def total() -> Array:
            graph = Graph(self.cluster)
            ends = self.tree(graph, asked(graph))
            return graph.numbers(ends, [shape] * len(ends), total_of)

        return self.cluster.ask(total) if self.cut.used else np.zeros(shape)

    def tree(self, graph: Graph, names: list[str], add: Any = tasks.added) -> list[str]:
        """Their sums, no more than ``LAST`` of them. What lies on one worker is added up there
        first; the order is that of the partitions, wherever these are."""
        groups = self.groups()
        while True:
            several = [group for group in groups if len(group) > 1 or add is not tasks.added]
            if not several:
                break
            sums: dict[int, str] = {}
            shorter = []
            for group in groups:
                heads = []
                for first in range(0, len(group), FAN):
                    some = group[first : first + FAN]
                    heads.append(some[0])
                    if len(some) > 1 or add is not tasks.added:
                        sums[some[0]] = graph.add(add, [names[k] for k in some])
                shorter.append(heads)
            names = [sums.get(k, name) for k, name in enumerate(names)]
            groups, add = shorter, tasks.added
        ends = [names[group[0]] for group in groups]
        while len(ends) > LAST:
            firsts = range(0, len(ends), FAN)
            ends = [graph.add(tasks.added, ends[first : first + FAN]) for first in firsts]
        return ends

    def groups(self) -> list[list[int]]:
        """The used partitions by the worker that they were meant for."""
        count, workers = len(self.blocks.heights), len(self.cluster.homes)
        found: dict[int, list[int]] = {}
        for k, i in enumerate(self.cut.used):
            found.setdefault(i * workers // count, []).append(k)
        return list(found.values())


def total_of(terms: list[Array]) -> Array:
    """As a new array: a single term may be a worker's, or not to be written to."""
    return tasks.added(terms) if len(terms) > 1 else np.array(terms[0])
