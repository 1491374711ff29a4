"""What is asked of the scheduler at once: tasks that go to it as one message, and their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from distributed import Future

from uids.plugin import Array
from uids_dask import partition as tasks
from uids_dask.lent import Lent

if TYPE_CHECKING:
    from uids_dask.cluster import Cluster

T = TypeVar("T")


class Graph:
    """Tasks by their names; one may be given the names of others, or a list of them, in place of
    what these give."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.tasks: dict[str, tuple[Any, ...]] = {}

    def add(self, task: Any, *given: Any) -> str:
        name = f"{task.__name__}-{uuid4().hex}"
        lent = any(isinstance(value, Lent) for value in given)
        self.tasks[name] = (tasks.with_lent, task, *given) if lent else (task, *given)
        return name

    def futures(self, names: Sequence[str]) -> list[Future]:
        return list(self.cluster.client.get(self.tasks, list(names), sync=False))

    def results(self, names: Sequence[str]) -> list[Any]:
        return self.cluster.gather(self.futures(names))

    def numbers(
        self,
        names: Sequence[str],
        shapes: Sequence[tuple[int, ...]],
        use: Callable[[list[Array]], T],
    ) -> T:
        """What is made of results that are float64 of these shapes, and not to be changed. Of two
        threads one waits for the other."""
        cluster = self.cluster
        if not names:
            return use([])
        with cluster.turn:
            places = cluster.lender.room(shapes) if cluster.lender else []
            for name, place in zip(names, places, strict=False):
                self.tasks[name] = (tasks.written, place, *self.tasks[name])
            workers = cluster.present()
            futures = self.futures(names)
            # What was asked for before is let go now: its end is a message, which the next one
            # would have to wait for.
            cluster.last = futures, () if places else self.tasks
            if not places:
                return use(cluster.gather(futures))
            cluster.wait(futures)
            found = use([place.read() for place in places])
            cluster.settle(places[0].owner, workers)
            return found
