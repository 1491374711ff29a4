"""The dataclass that uids builds: which cluster, and the matrix on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uids.datasets.elsewhere import Elsewhere
from uids.plugin import Backend, Matrix, require
from uids_dask.cluster import Cluster, Settings, cluster_of
from uids_dask.matrix import DaskMatrix
from uids_dask.partitioned import Partitioned


@dataclass(frozen=True)
class Dask(Backend):
    """X in row partitions on the workers of a Dask cluster, which are never gathered.

    ``address`` is that of a scheduler that is there, such as tcp://host:8786; without one a cluster
    of ``workers`` (one for each core) is started on this machine, with ``threads`` each and
    ``memory`` each, and ends with the process. ``tls_*`` are the files of Dask's TLS. ``direct`` is
    false where this machine can reach the scheduler but not the workers. ``wait`` is how many
    seconds a scheduler or a worker may take to answer. Rows with up to ``small`` stored entries in
    all are brought here: a product with them, 10 ms, is over before a task is. 0 leaves all there.
    """

    address: str | None = None
    workers: int | None = None
    threads: int = 1
    processes: bool = True
    memory: str = "auto"
    tls_ca_file: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    direct: bool = True
    wait: float = 60.0
    small: int = 2**22

    def __post_init__(self) -> None:
        require(self.workers is None or self.workers >= 1, "workers", "1 or more", self.workers)
        require(self.threads >= 1, "threads", "1 or more", self.threads)
        require(self.small >= 0, "small", "0 or more", self.small)
        require(self.wait > 0, "wait", "more than 0", self.wait)
        schemes = ("tcp://", "tls://", "ws://", "wss://", "ucx://", "inproc://")
        known = self.address is None or self.address.startswith(schemes)
        require(known, "address", "such as tcp://host:8786", self.address)
        alone = self.address is None or self.workers is None
        require(alone, "workers", "left out where address names a cluster", self.workers)

    def cluster(self) -> Cluster:
        tls = self.tls_ca_file, self.tls_cert, self.tls_key
        sizes = self.workers, self.threads, self.processes, self.memory
        return cluster_of(Settings(self.address, *sizes, self.wait, self.direct, tls, self.small))

    def takes(self, X: Elsewhere) -> bool:
        return isinstance(X, Partitioned) and X.blocks.cluster is self.cluster()

    def matrix(self, X: Any) -> Matrix:
        if isinstance(X, Partitioned):
            return DaskMatrix(X.blocks)
        return DaskMatrix.of(self.cluster(), X)

    def plan(self, X: Any) -> str:
        cluster = self.cluster()
        count = len(X.blocks.heights) if isinstance(X, Partitioned) else len(cluster.homes)
        return f"dask: {count} partitions on {cluster.note}"
