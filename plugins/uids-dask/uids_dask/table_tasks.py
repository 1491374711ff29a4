"""What is asked of a part of a table, on the worker that reads it: by the core's own readers and
encoders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from uids.datasets.formats.arrow_reading import reading
from uids.datasets.formats.arrow_table import BATCH, columns_of, refuse_twice
from uids.datasets.formats.csv import Csv
from uids.datasets.formats.kinds import TEXT, is_text, kind_of, possible_kinds, read_as, tidy
from uids.datasets.formats.roles import Roles
from uids.datasets.formats.table import Columns, Kinds, Table
from uids.datasets.formats.table_encoder import TableEncoder, observed
from uids.plugin import UidsError
from uids_dask.files import File
from uids_dask.partition import Partition, slimmed


class Source(NamedTuple):
    """A file, or row groups of one."""

    form: str
    file: File
    where: str
    groups: tuple[int, ...] | None = None


class Told(NamedTuple):
    """Of a partition that was encoded: what is beside the features, and its facts."""

    columns: Columns
    rows: int
    stored: int
    all_ones: bool


class Possible(NamedTuple):
    """The kinds as which a column can be read; ``typed`` where its type says which."""

    kinds: list[str]
    typed: bool = False


def nowhere(where: str, columns: list[str], typed: bool) -> Table:
    """A table of which only the names are at hand."""

    def kinds(names: Sequence[str]) -> Kinds:
        raise AssertionError("its columns are elsewhere")

    def batches(names: Sequence[str]) -> Iterator[Columns]:
        raise AssertionError("its columns are elsewhere")

    return Table(where, columns, kinds, batches, typed=typed)


@contextmanager
def named(where: str) -> Iterator[None]:
    """Whatever goes wrong names the file."""
    try:
        yield
    except UidsError:
        raise
    except Exception as error:  # each store has its own
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise UidsError(f"cannot read {where}: {reason}") from error


@contextmanager
def opened(source: Source) -> Iterator[Table]:
    """As a table."""
    with named(source.where), source.file.here() as path:
        csv = source.form == "csv"
        yield Csv(str(path)).open(path, source.where) if csv else parquet(path, source)


def parquet(path: Any, source: Source) -> Table:
    with reading(source.where):
        schema = pq.read_schema(path)
    refuse_twice(schema.names, source.where)

    def batches(names: Sequence[str]) -> Iterator[Columns]:
        with reading(source.where), pq.ParquetFile(path) as file:
            groups = None if source.groups is None else list(source.groups)
            for batch in file.iter_batches(BATCH, row_groups=groups, columns=list(names)):
                yield {name: batch.column(name) for name in names}

    def kinds(names: Sequence[str]) -> Kinds:
        """By their types, without those of text, whose cells have to be looked at."""
        types = {name: schema.field(name).type for name in names}
        found = {name: kind_of(type) for name, type in types.items() if not is_text(type)}
        for name, kind in found.items():
            if kind is None:
                raise UidsError(
                    f"{source.where}: column {name!r} is of type {types[name]}; make numbers or "
                    f"text of it, or drop it: dataset.drop=[{name}]"
                )
        return {name: kind for name, kind in found.items() if kind is not None}

    return Table(source.where, columns_of(schema), kinds, batches)


def groups_of(file: File) -> list[int]:
    """The bytes of each row group."""
    with named(file.address), file.here() as path, pq.ParquetFile(path) as held:
        about = held.metadata
        return [about.row_group(i).total_byte_size for i in range(about.num_row_groups)]


def bundles(sizes: list[int], most: int) -> list[tuple[int, ...]]:
    """Row groups that lie together, of up to ``most`` bytes or one of them."""
    found: list[list[int]] = []
    total = 0
    for i, size in enumerate(sizes):
        if not found or total + size > most:
            found.append([])
            total = 0
        found[-1].append(i)
        total += size
    return [tuple(own) for own in found]


def header_of(source: Source) -> list[str]:
    with opened(source) as table:
        return table.columns


def possible_of(source: Source, names: Sequence[str]) -> dict[str, Possible]:
    with opened(source) as table:
        if not table.typed:
            kinds = possible_kinds(table.batches(names), names)
            return {name: Possible(own) for name, own in kinds.items()}
        found = dict(table.kinds(names))
        texts = [name for name in names if name not in found]
        tidied = (
            {name: tidy(read_as(column, TEXT)) for name, column in columns.items()}
            for columns in table.batches(texts)
        )
        looked = possible_kinds(tidied, texts) if texts else {}
        return {n: Possible([found[n]], True) if n in found else Possible(looked[n]) for n in names}


def observed_of(source: Source, roles: Roles, kinds: Kinds) -> TableEncoder:
    with opened(source) as table:
        return observed(table, roles, kinds)


def encoded_of(
    source: Source, encoder: TableEncoder, beside: tuple[str, ...], share: int
) -> tuple[Partition, Told]:
    blocks, others = [], []
    with opened(source) as table:
        for row, columns in table.numbered([*encoder.roles.features, *beside]):
            blocks.append(encoder.block(encoder.read(columns, table, row)))
            others.append({name: columns[name] for name in beside})
    X: Any = np.zeros((0, encoder.width))
    if encoder.sparse:
        X = sp.vstack(blocks, format="csr") if blocks else sp.csr_matrix((0, encoder.width))
        X = slimmed(X)
    elif blocks:
        X = np.vstack(blocks)
    columns = {name: pa.concat_arrays([each[name] for each in others]) for name in beside if others}
    stored = int(X.nnz if encoder.sparse else X.size)
    told = Told(columns, X.shape[0], stored, X.dtype == np.int8)
    return Partition(X, share), told


def pick(values: tuple[Any, ...], place: int) -> Any:
    return values[place]


def same(value: Any) -> Any:
    """A value that Dask can make again."""
    return value
