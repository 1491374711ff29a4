"""The click logs of the paper, from the files that Kaggle hands out: Criteo and Avazu, 2014.

Every field of a row becomes one feature "field=value" of value 1, numbered by a hash of that text
(64 bits of BLAKE2b) modulo 1,000,000, the same on every machine. Two fields of a row that fall on
one number leave one 1, so that X is of zeros and ones. The files are read in batches, each distinct
value of a batch is hashed once, and X is laid down on disk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import scipy.sparse as sp

from uids.datasets.data import Data, Parts, as_data
from uids.datasets.formats.arrow_reading import BLOCK, text_batches
from uids.datasets.parsed import parsed, stacked
from uids.datasets.public.download import File, locate
from uids.datasets.public.public_set import PublicSet
from uids.errors import UidsError

FEATURES = 1_000_000  # among which the hash of a feature chooses

Codes = npt.NDArray[np.int32]


def same(value: str) -> str:
    return value


def zeros_and_ones(codes: Sequence[Codes], features: int) -> Any:
    """CSR (rows, features) with ones at the codes, one array of them for each field; sorted, and a
    code that a row has twice is one 1."""
    places = np.stack(codes, axis=1)
    places.sort(axis=1)
    first = np.ones(places.shape, dtype=bool)
    first[:, 1:] = places[:, 1:] != places[:, :-1]
    starts = np.concatenate([[0], first.sum(axis=1).cumsum()])
    indices = places[first]
    ones = np.ones(len(indices), dtype=np.float32)
    return sp.csr_matrix((ones, indices, starts), shape=(len(places), features))


@dataclass(frozen=True)
class ClickLog(PublicSet):
    """A text file of all rows."""

    label: ClassVar[str]
    fields: ClassVar[list[str]]  # the columns that are read beside the label
    names: ClassVar[list[str] | None] = None  # all columns, where the file has no header
    separator: ClassVar[str] = ","
    features: ClassVar[int] = FEATURES
    block: ClassVar[int] = BLOCK

    def coded(self, rows: Any) -> list[Codes]:
        """The number of the feature of each row, one array for each field that X has."""
        raise NotImplementedError

    def is_in(self, rows: Any) -> Any:
        """Which rows of a batch are of this set."""
        return np.ones(len(rows), dtype=bool)

    def hashed(self, field: str, column: Any, change: Callable[[str], str] = same) -> Codes:
        """The number of the feature "field=change(value)" for each value of an arrow column of
        text."""
        coded = column.dictionary_encode()
        names = [f"{field}={change(value)}" for value in coded.dictionary.to_pylist()]
        hashes = [blake2b(name.encode(), digest_size=8).digest() for name in names]
        numbers = [int.from_bytes(eight, "little") % self.features for eight in hashes]
        return np.array(numbers, dtype=np.int32)[coded.indices.to_numpy()]

    def load(self) -> Data:
        path = locate(self.files["train"])
        labels: list[npt.NDArray[np.int8]] = []

        def blocks() -> Iterator[Any]:
            row = 0
            for rows in self.batches(path):
                chosen = self.is_in(rows)
                labels.append(clicks(rows[self.label], path, row)[chosen])
                row += len(rows)
                if chosen.any():
                    codes = self.coded(rows.filter(pa.array(chosen)))
                    yield zeros_and_ones(codes, self.features)

        def parse() -> Parts:
            X = stacked(blocks())
            if X is None:
                raise UidsError(f"{path} has no rows of this data set")
            return {"train": (X, np.concatenate(labels))}

        return as_data(parsed([path], type(self).__name__, parse), self.paper_rows)

    def batches(self, path: Path) -> Iterator[Any]:
        columns = [self.label, *self.fields]
        # All as text, and as empty text where there is nothing: every value is a category.
        convert = pa_csv.ConvertOptions(
            include_columns=columns,
            column_types=dict.fromkeys(columns, pa.string()),
            strings_can_be_null=False,
        )
        layout = pa_csv.ParseOptions(delimiter=self.separator, quote_char=False)
        yield from text_batches(path, str(path), self.block, layout, convert, self.names)


def clicks(column: Any, path: Path, row: int) -> npt.NDArray[np.int8]:
    clicked, not_clicked = pc.equal(column, "1"), pc.equal(column, "0")
    neither = pc.index(pc.or_(clicked, not_clicked), False).as_py()
    if neither >= 0:
        raise UidsError(
            f"{path}: the label must be 0 or 1, but it is {column[neither].as_py()!r} in row "
            f"{row + neither}, counted from 0"
        )
    return clicked.to_numpy(zero_copy_only=False).astype(np.int8)


INTEGERS = [f"I{k}" for k in range(1, 14)]
CATEGORIES = [f"C{k}" for k in range(1, 27)]


@dataclass(frozen=True)
class Criteo(ClickLog):
    """Display ads, clicked or not; 39 features a row, hashed. As the winners of the challenge did:
    an integer v > 2 is the category ⌊log(v)²⌋, one ≤ 2 is its own, a missing value is one too.

    Not done: their indicators from decision trees, and their one category for all rare values. The
    paper has a random sample of 1 % of these rows: any part of the file can be put in its place.
    """

    files = {"train": File("criteo/train.txt", others=("train.txt", "criteo_sample.tsv"))}
    shape = (45_840_617, FEATURES)
    megabytes = 4_577.0
    label = "click"
    fields = [*INTEGERS, *CATEGORIES]
    names = [label, *fields]
    separator = "\t"

    def coded(self, rows: Any) -> list[Codes]:
        integers = [self.hashed(field, rows[field], binned) for field in INTEGERS]
        return integers + [self.hashed(field, rows[field]) for field in CATEGORIES]


def binned(value: str) -> str:
    """⌊log(v)²⌋ of an integer v > 2; others keep apart from these bins."""
    if not value:
        return ""
    try:
        v = int(value)
    except ValueError:
        raise UidsError(f"criteo: {value!r} is not an integer, as columns 2 to 14 are") from None
    return str(int(math.log(v) ** 2)) if v > 2 else f"={v}"


NO_SITE = "85f751fd"  # site_id of the rows that have no site: their ad was shown in an app
SITE = ["site_id", "site_domain", "site_category"]
APP = ["app_id", "app_domain", "app_category"]
DEVICE = ["device_id", "device_ip", "device_model", "device_type", "device_conn_type"]
SHARED = ["banner_pos", *DEVICE, "C1", "C14", "C17", "C20", "C21"]


@dataclass(frozen=True)
class Avazu(ClickLog):
    """What the two halves of Avazu share: 15 features a row, hashed.

    They are the fields of the winners of the challenge (where the ad was shown: three; what ad:
    banner_pos, C14, C17, C20, C21; to whom: device_id, device_ip, device_model, device_conn_type),
    and the hour of the day, 00 to 23. In place of the winners' two counts of what a user did
    before, which take the whole log to make, there are C1 and device_type. ``id`` is left out.
    Rows are numbered within their half.
    """

    files = {
        "train": File(
            "avazu/train.csv",
            others=("avazu/train.gz", "train.csv", "train.gz", "avazu_sample.csv"),
        )
    }
    megabytes = 1_100.0
    label = "click"
    fields = ["hour", *SITE, *APP, *SHARED]
    place: ClassVar[list[str]]

    def coded(self, rows: Any) -> list[Codes]:
        hour_of_day = pc.utf8_slice_codeunits(rows["hour"], 6, 8)  # of YYMMDDHH
        others = [self.hashed(field, rows[field]) for field in (*self.place, *SHARED)]
        return [self.hashed("hour", hour_of_day), *others]

    def in_app(self, rows: Any) -> npt.NDArray[np.bool_]:
        return pc.equal(rows["site_id"], NO_SITE).to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class AvazuApp(Avazu):
    """Mobile ads shown in apps, clicked or not; 15 features a row, hashed. These are the rows of
    the log whose site_id is 85f751fd, which says that there is none."""

    shape = (14_596_137, FEATURES)
    place = APP

    def is_in(self, rows: Any) -> npt.NDArray[np.bool_]:
        return self.in_app(rows)


@dataclass(frozen=True)
class AvazuSite(Avazu):
    """Mobile ads shown on sites, clicked or not; 15 features a row, hashed. These are the rows of
    the log that are not of ``avazu_app``; their app_id is ecad2386, which says that there is none.
    """

    shape = (25_832_830, FEATURES)
    place = SITE

    def is_in(self, rows: Any) -> npt.NDArray[np.bool_]:
        return ~self.in_app(rows)
