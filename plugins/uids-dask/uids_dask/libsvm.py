"""LIBSVM text, read by the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from distributed import Future

from uids.datasets.csr import index_type
from uids.datasets.data import Parts, as_data
from uids.datasets.formats.libsvm_text import BadLineError, parse_block
from uids.plugin import Array, Data, UidsError
from uids_dask.backend import Dask
from uids_dask.cluster import Cluster
from uids_dask.files import File, files_of, fingerprint, parsed_size
from uids_dask.partition import ONES, Partition
from uids_dask.partitioned import Blocks, Partitioned

COMPILED = 2**16  # bytes of text, from which the compiled scan is worth its import


class Source(NamedTuple):
    """Lines of a file; all of it where ``size`` is None."""

    file: File
    begin: int
    size: int | None

    @property
    def name(self) -> str:
        if self.size is None:
            return self.file.address
        return f"{self.file.address}, bytes {self.begin:,} to {self.begin + self.size:,}"


class Lines(NamedTuple):
    """What stands in them; indices as if they began with 1."""

    indices: Array
    ends: Array
    values: Array


class Facts(NamedTuple):
    """``lowest`` and ``highest`` are the least and the largest index in the text, 0 where there is
    none; ``infinite`` is the first row with a value that is not finite, or −1."""

    labels: Array
    stored: int
    lowest: int
    highest: int
    all_ones: bool
    infinite: int


@dataclass(frozen=True)
class DaskLibsvm:
    """LIBSVM files by globs and addresses (part-*.txt, s3://…), in partitions on Dask's workers.

    ``train``, ``validation`` and ``test`` each name one file or many, in the order of their names;
    a file larger than ``partition`` is cut at lines, unless it is packed.
    """

    train: str
    validation: str | None = None
    test: str | None = None
    partition: str = "64MiB"

    file_format: ClassVar[str] = "libsvm"

    def __post_init__(self) -> None:
        parsed_size(self.partition, "partition")

    def files(self) -> dict[str, list[File]]:
        given = {"train": self.train, "validation": self.validation, "test": self.test}
        return {part: files_of(name, f"dataset.{part}") for part, name in given.items() if name}

    def fingerprint(self) -> list[Any]:
        return [fingerprint(files) for files in self.files().values()]

    def load(self) -> Data:
        return self.load_for(Dask())

    def load_for(self, backend: object) -> Data:
        if not isinstance(backend, Dask):
            raise UidsError(f"dataset {NAME!r} is read by Dask's workers: use backend=dask")
        cluster, size = backend.cluster(), parsed_size(self.partition, "partition")
        sources = {part: sources_of(files, size) for part, files in self.files().items()}
        return as_data(cluster.ask(lambda: read(cluster, sources)))


NAME = "dask_libsvm"


def sources_of(files: list[File], size: int) -> list[Source]:
    sources = []
    for file in files:
        if file.packed or file.size <= size:
            sources.append(Source(file, 0, None))
            continue
        count = -(-file.size // size)
        bounds = [file.size * i // count for i in range(count + 1)]
        sources += [Source(file, bounds[i], bounds[i + 1] - bounds[i]) for i in range(count)]
    return sources


def read(cluster: Cluster, sources: dict[str, list[Source]]) -> Parts:
    """As ``uids.datasets.formats.libsvm.parse`` reads them: indices start from 0 if one of the
    files has an index 0 or no entry at all; the number of features is the largest in any."""
    texts = {part: submitted(cluster, own) for part, own in sources.items()}
    facts = {
        part: cluster.gather(
            cluster.client.map(facts_of, lines, pure=False), f"read {part} rows by Dask"
        )
        for part, lines in texts.items()
    }
    lowest = [min_index(own, sources[part]) for part, own in facts.items()]
    base = 1 if all(low > 0 for low in lowest) else 0
    width = max(1, *(f.highest + 1 - base for own in facts.values() for f in own))
    parts: Parts = {}
    for part, lines in texts.items():
        heights = [len(f.labels) for f in facts[part]]
        share = -(-len(lines) // len(cluster.homes))
        about = {"base": base, "width": width, "share": share}
        made = cluster.client.map(made_of, lines, pure=False, **about)
        stored, ones = sum(f.stored for f in facts[part]), all(f.all_ones for f in facts[part])
        blocks = Blocks(cluster, once(made), heights, width, np.dtype(float), True, stored, ones)
        rows = np.concatenate([f.labels for f in facts[part]])
        parts[part] = Partitioned(blocks, first_infinite(facts[part])), rows
    return parts


def once(futures: list[Future]) -> Any:
    return lambda cluster: futures


def submitted(cluster: Cluster, sources: list[Source]) -> list[Future]:
    """Each on the worker that its neighbours are on, or any other where that is gone."""
    return [
        cluster.client.submit(
            lines_of,
            source,
            workers=[cluster.home(i, len(sources))],
            allow_other_workers=True,
            pure=False,
        )
        for i, source in enumerate(sources)
    ]


def min_index(facts: list[Facts], sources: list[Source]) -> int:
    """Of the whole part: a file without an entry counts as one with an index 0."""
    known = [f.lowest for f in facts if f.stored]
    return min(known) if known else 0


def first_infinite(facts: list[Facts]) -> int | None:
    before = 0
    for each in facts:
        if each.infinite >= 0:
            return before + each.infinite
        before += len(each.labels)
    return None


# On the workers.


def lines_of(source: Source) -> tuple[Lines, Array]:
    try:
        text = source.file.read(source.begin, source.size)
    except UidsError:
        raise
    except Exception as error:  # each store has its own
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise UidsError(f"{source.name}: cannot be read: {reason}") from error
    if not text.endswith(b"\n"):
        text += b"\n"
    scan = None
    if len(text) >= COMPILED:
        from uids.datasets.formats.libsvm_kernel import scan
    try:
        block = parse_block(text, scan)
    except BadLineError as error:
        where = f"{source.name}, line {error.line + 1}"
        raise UidsError(f"{where}: not LIBSVM text: {error}") from error
    # Copies: what was read is part of arrays as long as the text could have needed.
    values = block.values.copy()
    if (values == 1).all():
        values = np.ones(len(values), ONES)
    return Lines(block.indices.copy(), block.ends.copy(), values), block.labels.copy()


def facts_of(text: tuple[Lines, Array]) -> Facts:
    lines, labels = text
    lowest, highest = 0, 0
    if len(lines.indices):
        lowest, highest = int(lines.indices.min()) + 1, int(lines.indices.max()) + 1
    bad = np.flatnonzero(~np.isfinite(lines.values))
    infinite = int(np.searchsorted(lines.ends, bad[0], side="right")) if len(bad) else -1
    ones = lines.values.dtype == ONES
    return Facts(labels, len(lines.indices), lowest, highest, ones, infinite)


def made_of(text: tuple[Lines, Array], base: int, width: int, share: int) -> Partition:
    lines, labels = text
    shape = len(labels), width
    kind = index_type(shape, len(lines.indices))
    starts = np.concatenate([[0], lines.ends]).astype(kind)
    indices = lines.indices.astype(kind) + kind(1 - base)
    X = sp.csr_matrix((lines.values, indices, starts), shape=shape, copy=False)
    return Partition(X, share)
