"""The scheduler and its workers: found or started, asked, and one line where they fail."""

from __future__ import annotations

import asyncio
import atexit
import logging
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any, TypeVar

import dask
from dask.sizeof import sizeof
from distributed import Client, Future, KilledWorker, LocalCluster, Security, as_completed
from distributed.comm import CommClosedError

from uids.plugin import UidsError
from uids.system.progress import Steps

T = TypeVar("T")

ATTEMPTS = 5  # to do what was lost with a worker again, before it is given up
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
    epoch: int = 0
    homes: list[str] = field(default_factory=list)  # addresses of the workers, in order

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

        async def sent() -> list[Future]:
            return await asyncio.gather(
                *(
                    self.client.scatter(
                        value,
                        workers=[home] if home else None,
                        direct=self.settings.direct,
                        hash=False,
                        asynchronous=True,
                    )
                    for value, home in zip(values, homes, strict=True)
                )
            )

        return list(self.client.sync(sent))

    def spread(self, value: Any, count: int) -> list[Any]:
        """One value to all workers, as futures for ``count`` partitions: a few copies from here."""
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
    _open[settings] = found(settings) if settings.address else started(settings)
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


def found(settings: Settings) -> Cluster:
    try:
        client = Client(
            settings.address,
            timeout=settings.wait,
            security=settings.security(),
            direct_to_workers=settings.direct,
            set_as_default=False,
        )
        client.wait_for_workers(1, timeout=settings.wait)
    except (OSError, TimeoutError, CommClosedError, ValueError) as error:
        raise UidsError(
            f"backend.address={settings.address}: no Dask scheduler with a worker answers there "
            f"within {settings.wait:g} s: {' '.join(str(error).split())[:200]}"
        ) from error
    return Cluster(client, settings)


def started(settings: Settings) -> Cluster:
    # A partition is worth more than the moment that another worker would save by taking a task.
    options = {
        "distributed.scheduler.work-stealing": False,
        "distributed.scheduler.active-memory-manager.start": False,
    }
    with dask.config.set(options), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a port that is taken, or a dashboard that cannot be
        local = LocalCluster(
            n_workers=settings.workers,
            threads_per_worker=settings.threads,
            memory_limit=settings.memory,
            processes=settings.processes,
            silence_logs=logging.CRITICAL,
            security=settings.security(),
        )
        client = Client(local, direct_to_workers=settings.direct, set_as_default=False)
    return Cluster(client, settings, local)
