"""The scheduler and its workers: found or started, asked, and one line where they fail."""

from __future__ import annotations

import asyncio
import atexit
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from dask.sizeof import sizeof
from distributed import Client, Future, KilledWorker, LocalCluster, Security, as_completed
from distributed.comm import CommClosedError

from uids.plugin import UidsError
from uids.system.progress import Steps
from uids_dask.lent import Lender, Owner
from uids_dask.start import found, started

T = TypeVar("T")

ATTEMPTS = 5  # to do what was lost with a worker again, before it is given up
SENT = 10  # seconds after which a worker that takes nothing counts as lost
COPIES = 4  # of a vector that are sent from here; workers beyond have it from one another
SMALL = 2**15  # bytes up to which numbers travel with the task that wants them
MORE = "give each more, backend.memory=8GiB, or make partitions smaller, dataset.partition=32MiB"
LOST = (CancelledError, CommClosedError)


@dataclass(frozen=True)
class Settings:
    """Which cluster: what of the backend's fields decides that."""

    address: str | None
    workers: int | None
    threads: int
    processes: bool
    memory: str
    wait: float
    direct: bool
    tls: tuple[str | None, str | None, str | None]  # certificate authority, certificate, key
    small: int

    def security(self) -> Security | None:
        authority, certificate, key = self.tls
        if not any(self.tls):
            return None
        return Security(
            tls_ca_file=authority,
            tls_client_cert=certificate,
            tls_client_key=key,
            require_encryption=True,
        )


@dataclass(eq=False)
class Cluster:
    """``epoch`` counts the times that workers took with them what had been sent to them: it is then
    sent again."""

    client: Client
    settings: Settings
    local: LocalCluster | None = None
    lender: Lender | None = None  # of numbers, to workers on this machine
    epoch: int = 0
    homes: list[str] = field(default_factory=list)  # addresses of the workers, in order
    turn: RLock = field(default_factory=RLock)  # of one product at a time
    last: Any = None  # product that was asked for, which is not let go before the next
    read: list[tuple[Owner, set[str]]] = field(default_factory=list)  # files, the oldest first

    def __post_init__(self) -> None:
        self.look()

    @property
    def place(self) -> str:
        return self.settings.address or "this machine"

    @property
    def note(self) -> str:
        """Where it is, and where to watch it."""
        count = f"{len(self.homes)} worker{'s' * (len(self.homes) != 1)}"
        return f"{count} at {self.place}, {self.dashboard}"

    @property
    def dashboard(self) -> str:
        from importlib.util import find_spec

        link = str(self.client.dashboard_link)
        if self.local is not None and find_spec("bokeh") is None:
            return "no dashboard (bokeh is not installed)"
        return f"dashboard {link}"

    def present(self) -> set[str]:
        """The workers of a cluster of this process, each with a name that no other ever has."""
        known = self.local.scheduler.workers if self.local else {}
        return {worker.server_id for worker in known.values()}

    def settle(self, owner: Owner, workers: set[str]) -> None:
        """After a product: when its file may be used again. Not as long as another worker may do
        one of its tasks once more, where the first was given up or died with what it had done. The
        scheduler has heard that nobody wants them when it hears of the product after the next."""
        self.read.append((owner, workers))
        if len(self.read) > 2:
            owner, workers = self.read.pop(0)
            owner.fate["safe"] = workers == self.present()

    def look(self) -> None:
        """Which workers there are now."""
        known = self.client.scheduler_info(n_workers=-1)["workers"]
        self.homes = sorted(known)
        if not self.homes:
            raise UidsError(
                f"the Dask scheduler at {self.place} has no workers: start some (dask worker "
                f"{self.client.scheduler.address})"
            )

    def await_workers(self) -> None:
        """Until there is one: all may have died at once, and are started again."""
        until = time.monotonic() + self.settings.wait
        while True:
            self.client.wait_for_workers(1, timeout=self.settings.wait)
            try:
                return self.look()
            except UidsError:
                if time.monotonic() > until:
                    raise

    def home(self, number: int, count: int) -> str:
        """Of the partition ``number`` of ``count``: neighbours are together."""
        return self.homes[number * len(self.homes) // count]

    def send(self, values: Sequence[Any], homes: Sequence[str | None]) -> list[Any]:
        """Each to its worker, all at once, and small ones as they are."""
        if sum(sizeof(value) for value in values) <= SMALL:
            return list(values)
        if self.local is not None and not set(homes) <= {None, *self.local.scheduler.workers}:
            raise CommClosedError("a worker went away")

        async def sent() -> list[Future]:
            return await asyncio.gather(
                *(
                    self.client.scatter(
                        value,
                        workers=[home] if home else None,
                        direct=self.settings.direct,
                        hash=False,
                        timeout=SENT,
                        asynchronous=True,
                    )
                    for value, home in zip(values, homes, strict=True)
                )
            )

        return list(self.client.sync(sent))

    def lend(self, values: Sequence[Any], homes: Sequence[str | None]) -> list[Any]:
        """The same for one product: what is lent is gone after it."""
        few = sum(sizeof(value) for value in values) <= SMALL
        if few or self.lender is None or not all(is_numbers(value) for value in values):
            return self.send(values, homes)
        return list(self.lender.lend(values))

    def spread(self, value: Any, count: int) -> list[Any]:
        """One value to all workers, for ``count`` partitions: a few copies from here."""
        if self.lender is not None and is_numbers(value):
            return self.lend([value], [None]) * count
        copies = min(COPIES, len(self.homes))
        step = len(self.homes) / copies
        futures = self.send([value] * copies, [self.homes[int(i * step)] for i in range(copies)])
        return [futures[i * copies // count] for i in range(count)]

    def ask(self, submit: Callable[[], T]) -> T:
        """``submit()``, which sends, submits and gathers; again where workers took something with
        them. What ends for good is one line."""
        for attempt in range(ATTEMPTS):
            try:
                return submit()
            except UidsError:
                raise
            except KilledWorker as error:
                raise UidsError(
                    f"workers of Dask at {self.place} died again and again at one task: out of "
                    f"memory, most likely; {MORE}"
                ) from error
            except (*LOST, OSError, TimeoutError, RuntimeError, KeyError, ValueError) as error:
                self.recover(error, attempt)
        raise AssertionError("the last attempt returns or raises")

    def recover(self, error: Exception, attempt: int) -> None:
        """After a loss: the workers as they are now, or the line that says what is wrong."""
        gone = UidsError(
            f"the Dask scheduler at {self.place} went away: what is finished stays; start the same "
            "command again when it is back"
        )
        if self.client.status != "running" or "scheduler-connection-lost" in repr(error):
            forget(self)
            raise gone from error
        if not isinstance(error, (*LOST, OSError, TimeoutError)) and "workers" not in str(error):
            raise error
        if attempt == ATTEMPTS - 1:
            raise UidsError(
                f"workers of Dask at {self.place} were lost {ATTEMPTS} times at one product, out "
                f"of memory, perhaps ({MORE}): {' '.join(str(error).split())[:200]}"
            ) from error
        self.epoch += 1
        try:
            self.await_workers()
        except (*LOST, OSError, TimeoutError) as second:
            forget(self)
            raise gone from second

    def gather(self, futures: Sequence[Future], what: str = "") -> list[Any]:
        """Their results; with ``what`` it is told how far they are."""
        if what:
            steps = Steps(what, len(futures))
            for done, _ in enumerate(as_completed(futures, loop=self.client.loop), start=1):
                steps.done(done)
        return list(self.client.gather(list(futures), direct=self.settings.direct))

    def wait(self, futures: Sequence[Future]) -> None:
        """Until all have ended, without their results; the first failure is raised."""

        async def ended() -> None:
            for future in futures:
                await future.exception(asynchronous=True)

        self.client.sync(ended)
        for future in futures:
            if future.status != "finished":
                future.result()  # raises

    def close(self) -> None:
        self.client.close()
        if self.local is not None:
            self.local.close()


_open: dict[Settings, Cluster] = {}


def cluster_of(settings: Settings) -> Cluster:
    """One for the process: started or found when it is first asked for; Dask ends it with the
    process."""
    known = _open.get(settings)
    if known is not None and known.client.status == "running":
        return known
    client, local, lender = found(settings) if settings.address else started(settings)
    _open[settings] = Cluster(client, settings, local, lender)
    return _open[settings]


def forget(cluster: Cluster) -> None:
    for settings, known in list(_open.items()):
        if known is cluster:
            del _open[settings]


def close_all() -> None:
    """Those that this process has started or found."""
    while _open:
        _open.popitem()[1].close()


# Before Dask's own end of the process, which would speak of all that the workers still hold.
atexit.register(close_all)


def is_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64
