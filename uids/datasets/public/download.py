"""Files of public data sets: where they are looked for, and how they come there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from uids.errors import UidsError, one_line
from uids.system.folders import data_folder
from uids.system.progress import Steps

REASON = 200  # characters that are shown of the reason why a download failed


@dataclass(frozen=True)
class File:
    """A file of a public data set. ``others`` are names under which people also have it."""

    name: str
    url: str = ""
    sha256: str | None = None
    others: tuple[str, ...] = ()


class Received(Steps):
    """The bytes of a download, in the way in which pooch tells them to a bar: it sets ``total``
    (0 where the server does not say), and tells the bytes since it last spoke."""

    count = 0

    def update(self, more: int) -> None:
        self.count += more
        self.done(min(self.count, self.total or self.count))

    def reset(self) -> None:
        self.count = 0

    def close(self) -> None:
        """Nothing to close."""


def find(file: File) -> Path | None:
    for name in (file.name, *file.others):
        path = data_folder() / name
        if path.is_file():
            return path
    return None


def locate(file: File) -> Path:
    """The file's path; downloaded, with its checksum verified, when it is not here."""
    here = find(file)
    if here is not None:
        return here
    put = f"put the file {file.name} into {data_folder()}"
    if not file.url:
        raise UidsError(f"{file.name} cannot be downloaded by a program: {put}")
    import pooch

    try:
        path = pooch.retrieve(
            file.url,
            known_hash=f"sha256:{file.sha256}" if file.sha256 else None,
            fname=file.name,
            path=data_folder(),
            progressbar=Received(f"download {file.name}", 0),
        )
    except (OSError, ValueError) as error:
        reason = one_line(error)[:REASON]
        raise UidsError(f"cannot download {file.url} ({reason}): {put}") from error
    return Path(path)
