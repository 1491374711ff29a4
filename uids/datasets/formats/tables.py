"""A person's own tables: what CSV and Parquet share. ``table_encoding`` makes X of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from uids.datasets.data import Data, Parts, as_data
from uids.datasets.formats.own_files import OwnFiles
from uids.datasets.formats.table import Table
from uids.datasets.formats.table_encoding import encode
from uids.datasets.parsed import parsed
from uids.errors import UidsError, unknown

TARGETS = ("target", "label", "class", "y", "click")  # names by which a column of labels is known


@dataclass(frozen=True)
class Tables(OwnFiles):
    """What both formats share. ``target`` is the column of labels, by default the one that is
    called target, label, class, y or click. ``id`` is a column to leave out. So are columns without
    a name and ``__index_level_N__``: they are the index that pandas writes.

    For what becomes of the columns see ``uids/datasets/formats/table_encoding.py``.
    """

    target: str | None = None
    id: str | None = None

    most_classes: ClassVar[int] = 10_000  # more different labels than that are no classes

    @abstractmethod
    def open(self, path: Path, where: str) -> Table:
        """The file as a table."""

    def load(self) -> Data:
        paths = self.paths()
        options = [type(self).__name__, self.target, self.id, list(paths)]

        def parse() -> Parts:
            tables = {
                part: self.open(path, f"dataset.{part}={path}") for part, path in paths.items()
            }
            train = tables["train"]
            if self.id is not None and self.id not in train.columns:
                raise UidsError(f"dataset.id: {unknown('column', self.id, train.columns)}")
            target = target_of(train, self.target)
            if target == self.id:
                raise UidsError(f"dataset.id and dataset.target are both {target!r}: one column")
            return encode(tables, target, self.id, self.most_classes)

        return as_data(parsed(list(paths.values()), options, parse))


def target_of(table: Table, given: str | None) -> str:
    if given is not None:
        if given not in table.columns:
            raise UidsError(f"dataset.target: {unknown('column', given, table.columns)}")
        return given
    likely = [name for name in table.columns if name.lower() in TARGETS]
    if len(likely) != 1:
        hint = "" if len(table.columns) > 1 else " (only one: is the separator a comma?)"
        raise UidsError(
            f"dataset.target must name the column of labels; the columns of {table.where} "
            f"are {', '.join(table.columns)}{hint}"
        )
    return likely[0]
