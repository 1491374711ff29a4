"""What is kept of data files once they are parsed: arrays in the cache folder, memory-mapped."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from uids.datasets import parse_cache as cache
from uids.datasets.csr import csr_of, index_type
from uids.datasets.data import Parts
from uids.errors import UidsError, UidsWarning
from uids.system.checksum import WHOLE, checksum
from uids.system.folders import cache_folder
from uids.system.unfinished import begin, end, remove_leftovers

T = TypeVar("T")

FORMAT = 2  # of the parsed files; raise it when a parser changes what it gives


def fingerprint(paths: Sequence[Path]) -> list[Any]:
    """What tells these files from others and from later versions of themselves: path, size, time
    of change and content. Of a large file only samples are read, and so it also has the time that
    no program can set back, that of the last change of its entry on the disk."""
    found = []
    for path in paths:
        if path.is_file():
            state = path.stat()
            changed = state.st_ctime_ns if state.st_size > WHOLE else 0
            about = [state.st_size, state.st_mtime_ns, changed, checksum(path)]
            found.append([str(path.resolve()), *about])
    return found


@contextmanager
def unchanged(paths: Sequence[Path]) -> Iterator[None]:
    """While they are read: or what was read is of two versions."""
    before = fingerprint(paths)
    yield
    if fingerprint(paths) != before:
        names = " or ".join(str(path) for path in paths)
        raise UidsError(f"{names} has changed while it was read: start again when it is whole")


def parsed(paths: Sequence[Path], options: Any, parse: Callable[[], Parts]) -> Parts:
    """``parse()``, done once: afterwards its arrays are memory-mapped from the cache folder."""
    return kept(paths, options, lambda folder: save(folder, parse()), load)


def kept(
    paths: Sequence[Path],
    options: Any,
    write: Callable[[Path], None],
    read: Callable[[Path], T],
) -> T:
    """What ``write(folder)`` puts there, done once, and read from there. For ``load`` to read it
    that is for each part its ``y`` and either ``X`` or ``data``, ``indices``, ``indptr`` and
    ``shape``, each in a file ``part-name.npy``; indices and indptr of the type that ``index_type``
    gives.

    What is kept belongs to the files as they are (``fingerprint``) and the options. A folder that
    is damaged is made again. Where the cache cannot be written, the files are read all the same.
    """
    key = [FORMAT, options, *fingerprint(paths)]
    digest = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()[:16]
    folder = cache_folder() / "parsed" / digest

    def reread(place: Path) -> None:
        with unchanged(paths):
            write(place)

    try:
        if folder.is_dir():
            if cache.is_whole(folder):
                return read(folder)
            told(f"the parsed copy of {paths[0]} in {folder} is damaged: it is made again")
            cache.discard(folder)
        cache.make(folder, reread)
        return read(folder)
    except OSError as error:
        told(
            f"{paths[0]} is read without a cache: {error.strerror or error} ({folder.parent}); set "
            "XDG_CACHE_HOME to a folder that can be written"
        )
        return _unkept(reread, read)


def told(sentence: str) -> None:
    warnings.warn(sentence, UidsWarning, stacklevel=3)


def _unkept(write: Callable[[Path], None], read: Callable[[Path], T]) -> T:
    """Through a folder of the system's, which is gone when this returns: what is mapped stays."""
    place = Path(tempfile.gettempdir())
    remove_leftovers([place])
    folder = begin(place, "uids")
    try:
        folder.mkdir(mode=0o700)
        write(folder)
        return read(folder)
    except OSError as error:
        raise UidsError(
            f"cannot write the parsed arrays to {place}: {error.strerror or error}; set "
            "XDG_CACHE_HOME or TMPDIR to a folder that can be written and has room"
        ) from error
    finally:
        end(folder)


def _scratch() -> Path | None:
    """Where large temporary files go: beside the cache, or else where the system has them."""
    folder = cache_folder() / "parsed"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def stacked(blocks: Iterable[Any]) -> Any:
    """Blocks of rows, all dense or all CSR, one under another; None where there are none.

    They go to disk as they come and are mapped from there, so that memory holds one at a time.
    """
    scratch = _scratch()
    counts, block = [], None
    with (
        tempfile.TemporaryFile(dir=scratch) as values,
        tempfile.TemporaryFile(dir=scratch) as indices,
    ):
        for block in blocks:
            if sp.issparse(block):
                block.data.tofile(values)
                block.indices.astype(np.int32, copy=False).tofile(indices)
                counts.append(np.diff(block.indptr))
            else:
                block.tofile(values)
        if block is None:
            return None
        data = _mapped(values, block.dtype)
        if not sp.issparse(block):
            return data.reshape(-1, block.shape[1])
        starts = np.concatenate([[0], *counts]).cumsum(dtype=np.int64)
        shape = (len(starts) - 1, block.shape[1])
        return sp.csr_matrix((data, _mapped(indices, np.int32), starts), shape=shape, copy=False)


def _mapped(file: Any, dtype: Any) -> Any:
    file.seek(0, os.SEEK_END)
    return np.memmap(file, dtype, mode="r") if file.tell() else np.empty(0, dtype)


def save(folder: Path, parts: Parts) -> None:
    for part, (X, y) in parts.items():
        np.save(folder / f"{part}-y.npy", y, allow_pickle=False)
        if sp.issparse(X):
            index = index_type(X.shape, X.nnz)
            np.save(folder / f"{part}-data.npy", X.data, allow_pickle=False)
            for name, array in (("indices", X.indices), ("indptr", X.indptr)):
                narrow = array.astype(index, copy=False)
                np.save(folder / f"{part}-{name}.npy", narrow, allow_pickle=False)
            np.save(folder / f"{part}-shape.npy", np.array(X.shape))
        else:
            np.save(folder / f"{part}-X.npy", X, allow_pickle=False)


class GrowingArray:
    """An .npy file of one axis that is made by appending, and is whole when it is closed."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.length, self.dtype = 0, np.dtype(dtype)
        self._file = open(path, "wb")  # noqa: SIM115, for __exit__ to close
        self._write_header()

    def __enter__(self) -> GrowingArray:
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            self._file.seek(0)
            self._write_header()

    def append(self, array: npt.NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(array, dtype=self.dtype).data)
        self.length += len(array)

    def _write_header(self) -> None:
        # numpy leaves room in a header for the first axis to grow: both take the same bytes.
        header = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.length,)}
        write: Any = np.lib.format.write_array_header_1_0  # not annotated in every numpy
        write(self._file, header)


def load(folder: Path) -> Parts:
    def array(part: str, name: str) -> Any:
        return np.load(folder / f"{part}-{name}.npy", mmap_mode="r", allow_pickle=False)

    parts: Parts = {}
    for path in sorted(folder.glob("*-y.npy")):
        part = path.name.removesuffix("-y.npy")
        if (folder / f"{part}-X.npy").exists():
            X = array(part, "X")
        else:
            names = ("data", "indices", "indptr", "shape")
            X = csr_of({name: array(part, name) for name in names}, str(folder))
        parts[part] = X, np.asarray(array(part, "y"))
    return parts
