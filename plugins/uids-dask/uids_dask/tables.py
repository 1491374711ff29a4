"""CSV and Parquet, read and encoded by the workers.

Three passes over the training files, each on the workers and all partitions at once: what the
columns hold, what is to be learned of them, and X. Only what they tell comes here: names and kinds
of columns, what was learned of each, labels, ids and parts.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from distributed import Future

from uids.datasets.data import Parts, as_data
from uids.datasets.encoding import Encoding
from uids.datasets.formats.kinds import MOMENTS, TEXT, settled
from uids.datasets.formats.labels import Labels
from uids.datasets.formats.roles import Roles, names_of, roles_of, same_columns
from uids.datasets.formats.table import Kinds, Table
from uids.datasets.formats.table_encoder import TableEncoder, finished
from uids.datasets.formats.table_encoding import Beside, id_table, part_rows
from uids.datasets.formats.tables import Tables
from uids.plugin import Data, UidsError, require
from uids_dask import table_tasks as tasks
from uids_dask.backend import Dask
from uids_dask.cluster import Cluster
from uids_dask.files import File, files_of, fingerprint, parsed_size
from uids_dask.partitioned import Blocks, Partitioned
from uids_dask.table_tasks import Possible, Source


@dataclass(frozen=True)
class DaskTables:
    """What both formats share; for the columns see ``uids.datasets.formats.tables.Tables``."""

    train: str
    validation: str | None = None
    test: str | None = None
    target: str | None = None
    id: Any = None
    part: str | None = None
    drop: Any = field(default_factory=list)
    text: Any = field(default_factory=list)
    partition: str = "64MiB"

    typed: ClassVar[bool]
    file_format: ClassVar[str]

    def __post_init__(self) -> None:
        parsed_size(self.partition, "partition")
        for name, value in (("id", self.id), ("drop", self.drop), ("text", self.text)):
            names_of(value, name)
        only = self.part is None or (self.validation is None and self.test is None)
        require(only, "part", "left out where dataset.validation or .test is given", self.part)

    def files(self) -> dict[str, list[File]]:
        given = {"train": self.train, "validation": self.validation, "test": self.test}
        return {part: files_of(name, f"dataset.{part}") for part, name in given.items() if name}

    def fingerprint(self) -> list[Any]:
        return [fingerprint(files) for files in self.files().values()]

    @abstractmethod
    def sources(self, cluster: Cluster, part: str, files: list[File]) -> list[Source]: ...

    def load(self) -> Data:
        return self.load_for(Dask())

    def load_for(self, backend: object) -> Data:
        if not isinstance(backend, Dask):
            raise UidsError("the files are read by Dask's workers: use backend=dask")
        cluster = backend.cluster()
        return cluster.ask(lambda: self.read(cluster))

    def read(self, cluster: Cluster) -> Data:
        sources = {p: self.sources(cluster, p, files) for p, files in self.files().items()}
        tables = self.tables(cluster, sources)
        ids, drop, text = (names_of(v, "") for v in (self.id, self.drop, self.text))
        roles = roles_of(tables["train"][0], self.target, ids, self.part, drop, text)
        for table in [each for own in tables.values() for each in own]:
            same_columns(tables["train"][0], table, roles)
        train = self.named("train", tables["train"][0].columns)
        encoder = learned(cluster, sources["train"], train, roles)
        beside = Beside(roles, Labels(Tables.most_classes))
        matrices = {
            part: self.encoded(cluster, part, sources[part], encoder, beside, train)
            for part in sources
        }
        beside.labels.refuse_ids(roles.target, train)
        y = beside.labels.typed()
        parts: Parts = {part: (X, y[part]) for part, X in matrices.items()}
        rows = part_rows(np.concatenate(beside.codes), roles, train) if roles.part else None
        about = Encoding(encoder, encoder.notes(), id_table(beside.ids, train))
        return as_data(parts, features=encoder.features(), part_rows=rows, encoding=about)

    def named(self, part: str, columns: list[str]) -> Table:
        """A table that is not here: for what is asked of its names, and for errors."""
        given = {"train": self.train, "validation": self.validation, "test": self.test}[part]
        return tasks.nowhere(f"dataset.{part}={given}", columns, self.typed)

    def tables(self, cluster: Cluster, sources: dict[str, list[Source]]) -> dict[str, list[Table]]:
        """By their columns, which each file tells."""
        found = {}
        for part, own in sources.items():
            headers = cluster.gather(cluster.client.map(tasks.header_of, own, pure=False))
            found[part] = [
                tasks.nowhere(source.where, columns, self.typed)
                for source, columns in zip(own, headers, strict=True)
            ]
        return found

    def encoded(
        self,
        cluster: Cluster,
        part: str,
        sources: list[Source],
        encoder: TableEncoder,
        beside: Beside,
        train: Table,
    ) -> Partitioned:
        """X of a part, on the workers; what is beside the features comes here."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the size of an encoder with many categories
            known = cluster.client.submit(tasks.same, encoder, pure=False)
        share = -(-len(sources) // len(cluster.homes))
        names = tuple(beside.names(part))
        pairs = submitted(cluster, tasks.encoded_of, sources, known, names, share)
        made = cluster.client.map(tasks.pick, pairs, place=0, pure=False)
        told = cluster.gather(
            cluster.client.map(tasks.pick, pairs, place=1, pure=False), f"encode {part} rows"
        )
        before: dict[str, int] = {}  # rows of a file, in those of its partitions that were seen
        for source, each in zip(sources, told, strict=True):
            if each.rows:
                table = tasks.nowhere(source.where, train.columns, self.typed)
                beside.add(part, each.columns, table, before.get(source.where, 0))
            before[source.where] = before.get(source.where, 0) + each.rows
        if not any(before.values()):
            raise UidsError(f"{self.named(part, train.columns).where} has no rows")
        heights, stored = [each.rows for each in told], sum(each.stored for each in told)
        ones = encoder.sparse and all(each.all_ones for each in told)
        about = encoder.width, np.dtype(float), encoder.sparse, stored, ones
        return Partitioned(Blocks(cluster, lambda cluster: list(made), heights, *about))


def submitted(cluster: Cluster, task: Any, sources: list[Source], *same: Any) -> list[Future]:
    """One task a source, each on the worker that its neighbours are on, or any other where that is
    gone."""
    return [
        cluster.client.submit(
            task,
            source,
            *same,
            workers=[cluster.home(i, len(sources))],
            allow_other_workers=True,
            pure=False,
        )
        for i, source in enumerate(sources)
    ]


def learned(cluster: Cluster, sources: list[Source], train: Table, roles: Roles) -> TableEncoder:
    """What all partitions of the training rows tell, merged in their order."""
    asked = submitted(cluster, tasks.possible_of, sources, roles.features)
    told = cluster.gather(asked, "look at the columns")
    kinds = merged_kinds(told, sources, train.typed)
    asked = submitted(cluster, tasks.observed_of, sources, roles, kinds)
    first, *others = cluster.gather(asked, "learn from the columns")
    for other in others:
        first.merge(other)
    return finished(first, train)


def merged_kinds(told: list[dict[str, Possible]], sources: list[Source], typed: bool) -> Kinds:
    """A column holds what all partitions can be read as. Of typed tables text stays text unless it
    is dates, and other columns are of one kind by their type."""
    kinds: Kinds = {}
    for name, first in told[0].items():
        for each, source in zip(told, sources, strict=True):
            if each[name].typed != first.typed or (first.typed and each[name] != first):
                raise UidsError(
                    f"{source.where}: column {name!r} is of another type than in "
                    f"{sources[0].where}: write both alike"
                )
        possible = [kind for kind in first.kinds if all(kind in each[name].kinds for each in told)]
        by_cells = not typed or first.typed or bool({*possible} & {*MOMENTS})
        kinds[name] = settled(possible) if by_cells else TEXT
    return kinds


@dataclass(frozen=True)
class DaskCsv(DaskTables):
    """CSV files by globs and addresses (part-*.csv, s3://…), each a partition on Dask's workers.

    A value may hold line ends, so that a file is not cut: write large tables as several files. The
    columns are encoded as those of ``csv`` are.
    """

    typed: ClassVar[bool] = False
    file_format: ClassVar[str] = "csv"

    def sources(self, cluster: Cluster, part: str, files: list[File]) -> list[Source]:
        return [Source("csv", file, f"dataset.{part}={file.address}") for file in files]


@dataclass(frozen=True)
class DaskParquet(DaskTables):
    """Parquet files by globs and addresses (part-*.parquet, s3://…), in partitions of row groups on
    Dask's workers, of up to ``partition`` each. The columns are encoded as those of ``parquet``."""

    typed: ClassVar[bool] = True
    file_format: ClassVar[str] = "parquet"

    def sources(self, cluster: Cluster, part: str, files: list[File]) -> list[Source]:
        size = parsed_size(self.partition, "partition")
        found = []
        told = cluster.gather(cluster.client.map(tasks.groups_of, files, pure=False))
        for file, groups in zip(files, told, strict=True):
            where = f"dataset.{part}={file.address}"
            for own in tasks.bundles(groups, size):
                found.append(Source("parquet", file, where, own))
        return found
