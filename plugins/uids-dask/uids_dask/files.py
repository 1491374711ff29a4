"""Files by globs and addresses, on this machine or in an object store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec
from dask.utils import parse_bytes
from fsspec.utils import read_block

from uids.datasets.parsed import fingerprint as of_files
from uids.plugin import UidsError

PACKED = (".gz", ".bz2", ".xz", ".zst")  # cannot be read from the middle


@dataclass(frozen=True)
class File:
    """``key`` tells it from later versions of itself."""

    address: str  # with its protocol where it is not of this machine
    size: int
    key: str

    @property
    def packed(self) -> bool:
        return self.address.endswith(PACKED)

    @property
    def local(self) -> Path | None:
        fs, path = fsspec.core.url_to_fs(self.address)
        return Path(path) if "file" in protocols(fs) else None

    def check(self) -> None:
        """That it is what it was when the run began."""
        fs, path = fsspec.core.url_to_fs(self.address)
        if str(fs.ukey(path)) != self.key:
            raise UidsError(f"{self.address} has changed since it was first read: start again")

    def read(self, begin: int, size: int | None) -> bytes:
        """Whole lines: those that begin in these bytes of it."""
        self.check()
        how = "infer" if self.packed else None
        with fsspec.open(self.address, "rb", compression=how) as file:
            if size is None:
                return bytes(file.read())
            return bytes(read_block(file, begin, size, b"\n"))

    @contextmanager
    def here(self) -> Iterator[Path]:
        """A file of this machine with its content, for a reader that wants one."""
        self.check()
        if self.local is not None:
            yield self.local
            return
        from tempfile import TemporaryDirectory

        fs, path = fsspec.core.url_to_fs(self.address)
        with TemporaryDirectory(prefix="uids-dask-") as folder:
            copy = Path(folder) / Path(path).name
            fs.get_file(path, str(copy))
            yield copy


def protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def files_of(given: str, option: str) -> list[File]:
    """By an address or a glob, in the order of their names."""
    try:
        fs, path = fsspec.core.url_to_fs(given)
        names = sorted(fs.glob(path)) if fsspec.core.has_magic(path) else [path]
        found = [File(fs.unstrip_protocol(n), int(fs.size(n) or 0), str(fs.ukey(n))) for n in names]
    except FileNotFoundError as error:
        raise UidsError(f"{option}: there is no file {given!r}") from error
    except Exception as error:  # each store has its own
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise UidsError(f"{option}={given}: cannot be listed: {reason}") from error
    found = [file for file in found if file.size]
    if not found:
        raise UidsError(f"{option}: there is no file {given!r}, or those that are there are empty")
    return found


def fingerprint(files: list[File]) -> list[Any]:
    """Of those of this machine as of any data set's files, of others what their store tells."""
    told = [file.local for file in files]
    here = of_files([path for path in told if path is not None])
    return [*here, *([f.address, f.size, f.key] for f in files if f.local is None)]


def parsed_size(value: str, name: str) -> int:
    """64MiB as a number; a ValueError where it is none."""
    try:
        size = int(parse_bytes(value))
    except ValueError:
        size = 0
    if size < 1:
        raise ValueError(f"{name} must be a size such as '64MiB' (got {value!r})")
    return size
