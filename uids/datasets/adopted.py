"""The door of data sets: the one place where one of any package comes in, and is asked what it can
do. Only ``load()`` is required:

- ``load_for(backend)``, in place of ``load()``, of a data set whose rows are to lie where the
  backend has them: what it then hands back as X may be ``Elsewhere``;
- ``here()``, a class method: whether ``load()`` needs no download (by default it needs none);
- ``files``: name ↦ an object with a ``name``, the files to be put into the data folder by hand;
- ``fingerprint()``: what tells its files from later versions of themselves (by default None);
- ``file_format``: "csv", "parquet" or "libsvm", where the rows are those of the files that the
  field ``train`` names by a path or a glob, in the order of their names;
- ``shape``, ``megabytes``, ``paper_rows``: for the list of data sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from uids.datasets.data import Data, check
from uids.datasets.empty_columns import without_empty_columns
from uids.errors import Blame, UidsError
from uids.registry import Chosen, Entry
from uids.system.folders import data_folder

OPTIONAL = (
    *("validation", "test", "paper_rows", "features", "part_rows", "encoding", "steps"),
    "units",
)

FILE_FORMATS = ("csv", "parquet", "libsvm")


@dataclass(frozen=True)
class AdoptedDataset:
    """A data set that was chosen for a run; what it raises is told as its own failure. ``encode``
    makes the features of what it loads, where a model brings steps of its own for that."""

    chosen: Chosen
    encode: Callable[[Data], Data] | None = None

    @property
    def name(self) -> str:
        return self.chosen.name

    def load(self, backend: object = None) -> Data:
        """``backend`` is the component that will be given X, where that is known."""
        with self.chosen.blame:
            component = self.chosen.component
            if backend is not None and hasattr(component, "load_for"):
                loaded = component.load_for(backend)
            else:
                loaded = component.load()
            if self.encode is not None:
                loaded = self.encode(as_pairs(loaded, self.name))
            try:
                return adopt(loaded, self.name)
            except UidsError as error:  # what it gave is wrong: its package can mend that
                words = str(error).replace(f"dataset {self.name!r}", self.chosen.blame.who, 1)
                raise UidsError(words) from error

    @property
    def file_format(self) -> str:
        """That of its training files; empty where it has none that can be written again."""
        told = getattr(type(self.chosen.component), "file_format", "")
        return told if told in FILE_FORMATS else ""

    def missing(self) -> str:
        """Why it cannot be read without a download; empty when it is here."""
        component = self.chosen.component
        with self.chosen.blame:
            if not hasattr(component, "here") or component.here():
                return ""
            files = " and ".join(file.name for file in getattr(component, "files", {}).values())
        put = f": put {files} into {data_folder()}" if files else ""
        return f"data set {self.name!r} is not here (download=false){put}"

    def unseen(self) -> str:
        """Why a change of its files would not be seen; empty where it would be."""
        if self.chosen.blame.trusted or hasattr(self.chosen.component, "fingerprint"):
            return ""
        return (
            f"{self.chosen.blame.who} has no fingerprint(): that its files have changed would not "
            "be seen, and cache=false computes what is done already again"
        )

    def fingerprint(self) -> Any:
        """What tells its files from others and from later versions of themselves."""
        component = self.chosen.component
        with self.chosen.blame:
            return component.fingerprint() if hasattr(component, "fingerprint") else None


def adopt(loaded: Any, name: str) -> Data:
    """What ``load()`` gave, checked."""
    return without_empty_columns(check(as_pairs(loaded, name), name), name)


def as_pairs(loaded: Any, name: str) -> Data:
    """What ``load()`` gave, as it is. It may be a plain ``(X, y)``, also with pairs of validation
    and test rows behind it, or any object with ``X`` and ``y``."""
    if isinstance(loaded, tuple) and len(loaded) in (2, 3, 4):
        loaded = Data(*loaded)
    if not (hasattr(loaded, "X") and hasattr(loaded, "y")):
        raise UidsError(
            f"dataset {name!r}: load() must give (X, y) or uids.Data, not {type(loaded).__name__}"
        )
    optional = {field: getattr(loaded, field, None) for field in OPTIONAL}
    for part in ("validation", "test"):
        refuse_no_pair(optional[part], part, name)
    return Data(loaded.X, loaded.y, **optional)


def refuse_no_pair(value: Any, part: str, name: str) -> None:
    if value is None or (isinstance(value, tuple | list) and len(value) == 2):
        return
    what = f"an array of shape {value.shape}" if hasattr(value, "shape") else type(value).__name__
    raise UidsError(
        f"dataset {name!r}: the {part} rows must be a pair (X, y), not {what}: what is given is "
        "(X, y), (X, y, validation) or (X, y, validation, test); weights of rows are not taken"
    )


@dataclass(frozen=True)
class About:
    """A data set in the list of them."""

    shape: tuple[int, int] | None  # rows in all, features; None where they are not known before
    megabytes: float | None  # to download; None where there is nothing to
    here: bool  # it can be read without a download
    has_paper_split: bool
    summary: str  # the first sentence of its docstring


def about(entry: Entry) -> About | None:
    """None where it cannot be imported or cannot tell: one broken package must not hide the
    others."""
    try:
        cls: Any = entry.load()
        with Blame(entry.who):
            return About(
                shape=getattr(cls, "shape", None),
                megabytes=getattr(cls, "megabytes", None),
                here=bool(cls.here()) if hasattr(cls, "here") else True,
                has_paper_split=bool(getattr(cls, "paper_rows", None)),
                summary=" ".join((cls.__doc__ or "").split()).partition(". ")[0].rstrip("."),
            )
    except UidsError:
        return None
