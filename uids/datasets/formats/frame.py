"""A frame of a person's own, from Python: ``uids.run(frame, target="churn")``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from uids.datasets.data import Arrays, Data
from uids.datasets.formats.adopted import as_transformer
from uids.datasets.formats.arrow_table import frame_table
from uids.datasets.formats.file_names import format_of
from uids.datasets.formats.handed import Handed, encode_by
from uids.datasets.formats.kept_table import data_of
from uids.datasets.formats.roles import names_of, roles_of
from uids.datasets.formats.table import Table
from uids.datasets.formats.table_encoding import encode
from uids.datasets.formats.tables import Tables
from uids.datasets.frames.adopted import as_arrow, is_frame
from uids.errors import UidsError, require
from uids.registry import REGISTRIES


@dataclass(frozen=True)
class Frame:
    """Frames of pandas, polars or Arrow, encoded as files are; see ``Tables`` for the fields. With
    ``encoder``, a transformer of scikit-learn's, that makes X of the columns instead."""

    train: object = field(repr=False)
    validation: object = field(default=None, repr=False)
    test: object = field(default=None, repr=False)
    target: str | None = None
    id: str | Sequence[str] | None = None
    part: str | None = None
    drop: str | Sequence[str] | None = None
    text: str | Sequence[str] | None = None
    encoder: object = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, value in (("id", self.id), ("drop", self.drop), ("text", self.text)):
            names_of(value, name)
        only = self.part is None or (self.validation is None and self.test is None)
        require(only, "part", "left out where validation or test is given", self.part)
        require(self.encoder is None or not self.text, "text", "left to the encoder", self.text)
        if self.encoder is not None:
            as_transformer(self.encoder)

    def tables(self) -> dict[str, Table]:
        given = {"train": self.train, "validation": self.validation, "test": self.test}
        return {
            part: frame_table(as_arrow(frame, called(part)), called(part))
            for part, frame in given.items()
            if frame is not None
        }

    def load(self) -> Data:
        tables = self.tables()
        ids, drop, text = (names_of(v, "") for v in (self.id, self.drop, self.text))
        roles = roles_of(tables["train"], self.target, ids, self.part, drop, text)
        if self.encoder is not None:
            return encode_by(
                Handed(as_transformer(self.encoder), roles), tables, Tables.most_classes
            )
        return data_of(encode(tables, roles, Tables.most_classes))


def called(part: str) -> str:
    return "the frame" if part == "train" else f"the frame of {part} rows"


def dataset_of(given: object, options: Mapping[str, Any]) -> Any:
    """What ``uids.run`` was given as data: arrays, frames and the paths of tables as data sets,
    others as they are."""
    named = {name: value for name, value in options.items() if value is not None}
    if is_frame(given):
        try:
            return Frame(given, **named)
        except ValueError as error:
            raise UidsError(str(error)) from error
    if isinstance(given, str) and format_of(given) in ("csv", "parquet"):
        return REGISTRIES["dataset"].build(str(format_of(given)), train=given, **named)
    if named:
        seen = repr(given) if isinstance(given, str) else type(given).__name__
        raise UidsError(
            f"{next(iter(named))}=… is for a frame, uids.run(frame, target=…), not for {seen}"
        )
    return Arrays(given) if isinstance(given, tuple | Data) else given
