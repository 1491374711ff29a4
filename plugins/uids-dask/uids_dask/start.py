"""A cluster, found at its address or started on this machine."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

import dask
import numpy as np
from distributed import Client, LocalCluster
from distributed.comm import CommClosedError

from uids.plugin import UidsError
from uids_dask.lent import Lender, Lent

if TYPE_CHECKING:
    from uids_dask.cluster import Settings

INTERVAL = 0.001  # seconds between two messages to the scheduler, at least

# What lends is there where all workers are on this machine.
Opened: TypeAlias = tuple[Client, LocalCluster | None, Lender | None]


def found(settings: Settings) -> Opened:
    try:
        client = Client(
            settings.address,
            timeout=settings.wait,
            security=settings.security(),
            direct_to_workers=settings.direct,
            set_as_default=False,
        )
        client.wait_for_workers(1, timeout=settings.wait)
        prompt(client)
    except (OSError, TimeoutError, CommClosedError, ValueError) as error:
        raise UidsError(
            f"backend.address={settings.address}: no Dask scheduler with a worker answers there "
            f"within {settings.wait:g} s: {' '.join(str(error).split())[:200]}"
        ) from error
    return client, None, None


def started(settings: Settings) -> Opened:
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
    prompt(client)
    return client, local, lender_for(client)


def prompt(client: Client) -> None:
    """Dask's client sends a message each 10 ms, where a product is two, one after the other."""
    stream: Any = client.scheduler_comm
    if getattr(stream, "interval", 0) > INTERVAL:
        stream.interval = INTERVAL


def lender_for(client: Client) -> Lender | None:
    """Where the workers can read and write what this process lends; some containers forbid it."""
    lender, numbers = Lender(), np.arange(3.0)
    try:
        (lent,) = lender.lend([numbers])
        found = client.run(Lent.read, lent)
        return lender if all((own == numbers).all() for own in found.values()) else None
    except OSError:
        return None
