"""What all public data sets share: their files, their size, and the paper's split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from uids.datasets.parsed import fingerprint
from uids.datasets.public.download import File, find


@dataclass(frozen=True)
class PublicSet:
    """Files that are looked for in the data folder, and downloaded where they can be.

    ``paper_rows`` is N of the paper's split: the first N rows of the training file are training and
    validation rows, of which the last 30 % are for validation; the rest, or the file of its own, is
    for test. Where it is None, the paper's split is not known.
    """

    files: ClassVar[dict[str, File]]
    shape: ClassVar[tuple[int, int]]  # rows in all, features
    megabytes: ClassVar[float]  # to download
    paper_rows: ClassVar[int | None] = None

    @classmethod
    def here(cls) -> bool:
        return all(find(file) is not None for file in cls.files.values())

    def fingerprint(self) -> Any:
        return fingerprint([path for path in map(find, self.files.values()) if path])
