"""A cluster, found at its address or started on this machine."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

import dask
import numpy as np
from dask.utils import parse_bytes
from distributed import Client, LocalCluster
from distributed.comm import CommClosedError

from uids.plugin import UidsError
from uids_dask.lent import Lender, Lent

if TYPE_CHECKING:
    from uids_dask.cluster import Settings

INTERVAL = 0.001  # seconds between two messages to the scheduler, at least
WORKER = 300 * 2**20  # bytes of a worker process without data: Python, numpy, numba and its loops
SHARE = 0.5  # of what is left of its memory, for what it holds; the rest is for what it makes
LEAST = 0.05  # of its memory that it may hold, however little there is

# Dask's loggers that speak of a lost connection, with a traceback; uids does in one line.
OF_CONNECTIONS = [f"distributed.{part}" for part in ("batched", "client", "comm", "core")]

# What lends is there where all workers are on this machine.
Opened: TypeAlias = tuple[Client, LocalCluster | None, Lender | None]


def found(settings: Settings) -> Opened:
    if str(settings.address).startswith("tls://") and not all(settings.tls):
        raise UidsError(
            f"backend.address={settings.address}: a cluster by TLS wants backend.tls_ca_file, "
            "backend.tls_cert and backend.tls_key, the files of its certificates"
        )
    for name in OF_CONNECTIONS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
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
        **kept_within(settings.memory),
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


def kept_within(memory: str) -> dict[str, Any]:
    """Where workers have little memory, what they hold goes to the disk before they are killed for
    it: Dask keeps 0.6 of the limit in memory, whatever the process itself takes."""
    try:
        limit = parse_bytes(memory)
    except ValueError:  # "auto": Dask's share of the machine
        return {}
    if not limit:  # none
        return {}
    return {"distributed.worker.memory.target": max(LEAST, SHARE * (limit - WORKER) / limit)}


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
