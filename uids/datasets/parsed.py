"""What is kept of data files once they are parsed: arrays in the cache folder, memory-mapped."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from uids.datasets.data import Parts
from uids.system.folders import cache_folder

FORMAT = 1  # of the parsed files; raise it when a parser changes what it gives


def fingerprint(paths: Sequence[Path]) -> list[Any]:
    """What tells these files from others and from later versions of themselves."""
    states = [(str(path.resolve()), path.stat()) for path in paths if path.is_file()]
    return [[name, state.st_size, state.st_mtime_ns] for name, state in states]


def parsed(paths: Sequence[Path], options: Any, parse: Callable[[], Parts]) -> Parts:
    """``parse()``, done once: afterwards its arrays are memory-mapped from the cache folder."""
    return kept(paths, options, lambda folder: _save(folder, parse()))


def kept(paths: Sequence[Path], options: Any, write: Callable[[Path], None]) -> Parts:
    """What ``write(folder)`` puts there, done once and memory-mapped: for each part its ``y`` and
    either ``X`` or ``data``, ``indices``, ``indptr`` and ``shape``, each in a file
    ``part-name.npy``; indices and indptr of the type that ``index_type`` gives.

    What is kept belongs to the files as they are (path, size, time of change) and the options.
    """
    key = [FORMAT, options, *fingerprint(paths)]
    digest = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()[:16]
    folder = cache_folder() / "parsed" / digest
    if not folder.is_dir():
        _make(folder, write)
    return load(folder)


def stacked(blocks: Iterable[Any]) -> Any:
    """Blocks of rows, all dense or all CSR, one under another; None where there are none.

    They go to disk as they come and are mapped from there, so that memory holds one at a time.
    """
    scratch = cache_folder() / "parsed"
    scratch.mkdir(parents=True, exist_ok=True)
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


def _make(folder: Path, write: Callable[[Path], None]) -> None:
    """By rename, so that a folder that is there is whole, also under parallel jobs."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".parsing-", dir=folder.parent))
    try:
        write(temporary)
        try:
            temporary.rename(folder)
        except OSError:
            if not folder.is_dir():  # another job was first: then its folder will do
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _save(folder: Path, parts: Parts) -> None:
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


def index_type(shape: tuple[int, int], stored: int) -> Any:
    """As narrow as scipy wants indices: it would copy wider ones each time they are used."""
    return np.int32 if max(*shape, stored) <= np.iinfo(np.int32).max else np.int64


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
            arrays = tuple(array(part, name) for name in ("data", "indices", "indptr"))
            X = sp.csr_matrix(arrays, shape=tuple(array(part, "shape")), copy=False)
        parts[part] = X, np.asarray(array(part, "y"))
    return parts
