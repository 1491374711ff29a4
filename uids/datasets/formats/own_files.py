"""What all formats of a person's own files share: which files there are."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from uids.datasets.parsed import fingerprint
from uids.errors import UidsError


@dataclass(frozen=True)
class OwnFiles:
    """The files of a person's own; without ``validation`` or ``test`` a split is made."""

    train: str
    validation: str | None = None
    test: str | None = None

    file_format: ClassVar[str] = ""  # see the door of data sets

    def paths(self) -> dict[str, Path]:
        given = {"train": self.train, "validation": self.validation, "test": self.test}
        paths = {part: Path(path) for part, path in given.items() if path}
        for part, path in paths.items():
            if not path.is_file():
                one = (
                    "; it must name a single file, not a pattern"
                    if glob.has_magic(str(path))
                    else ""
                )
                raise UidsError(f"dataset.{part}: there is no file {str(path)!r}{one}")
        return paths

    def fingerprint(self) -> list[Any]:
        return fingerprint(list(self.paths().values()))
