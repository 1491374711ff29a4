"""A person's own tables: what CSV and Parquet share. ``table_encoding`` makes X of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from uids.datasets.data import Data
from uids.datasets.formats.kept_table import read_encoded, write_encoded
from uids.datasets.formats.own_files import OwnFiles
from uids.datasets.formats.roles import names_of, roles_of
from uids.datasets.formats.table import Table
from uids.datasets.formats.table_encoding import EncodedTables, encode
from uids.datasets.parsed import kept
from uids.errors import UidsError, require

ENCODING = 4  # of what is kept; raise it when a column becomes something else


@dataclass(frozen=True)
class Tables(OwnFiles):
    """What both formats share. ``target`` is the column of labels, by default the one that is
    called target, label, class, y or click. ``id`` is a column of ids, or a list of them: they name
    the rows in the files of a run, and nothing is learned from them. ``part`` is a column that says
    train, validation or test, in place of files of their own. ``drop`` are columns to leave out,
    ``text`` those to be read word by word. Columns without a name and ``__index_level_N__`` are
    left out too: they are the index that pandas writes.

    For what becomes of the columns see ``uids/datasets/columns/``.
    """

    target: str | None = None
    id: Any = None
    part: str | None = None
    drop: Any = field(default_factory=list)
    text: Any = field(default_factory=list)

    most_classes: ClassVar[int] = 10_000  # more different labels than that are no classes

    def __post_init__(self) -> None:
        for name, value in (("id", self.id), ("drop", self.drop), ("text", self.text)):
            names_of(value, name)
        only = self.part is None or (self.validation is None and self.test is None)
        require(only, "part", "left out where dataset.validation or .test is given", self.part)

    @abstractmethod
    def open(self, path: Path, where: str) -> Table:
        """The file as a table."""

    def load(self) -> Data:
        paths = self.paths()
        ids, drop, text = (names_of(v, "") for v in (self.id, self.drop, self.text))
        named = [self.target, ids, self.part, drop, text]
        options = [type(self).__name__, ENCODING, *named, list(paths)]

        def parse() -> EncodedTables:
            tables = {
                part: self.open(path, f"dataset.{part}={path}") for part, path in paths.items()
            }
            roles = roles_of(tables["train"], self.target, ids, self.part, drop, text)
            return encode(tables, roles, self.most_classes)

        def write(folder: Path) -> None:
            write_encoded(folder, parse())

        try:
            return kept(list(paths.values()), options, write, read_encoded)
        except ValueError as error:
            raise UidsError(f"the parsed copy of {paths['train']} is damaged: {error}") from error
