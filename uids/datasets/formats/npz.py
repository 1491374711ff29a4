"""numpy archives."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from uids.datasets.csr import csr_of
from uids.datasets.data import Data, Pair, Parts, as_data
from uids.datasets.formats.own_files import OwnFiles
from uids.datasets.formats.unpacked import unpack, unpacked, unpacked_size
from uids.datasets.parsed import kept, unchanged
from uids.errors import UidsError, one_line
from uids.system.archive import REASON, UNREADABLE
from uids.system.memory import memory, refuse_beyond_memory

HOLDS = "y and X, or y, data, indices, indptr and shape"
WANTED = ("y", "X", "data", "indices", "indptr", "shape")
# One part in as many of the memory may go to arrays that are read; larger ones are mapped.
MEMORY_SHARE = 8


def reason(error: BaseException) -> str:
    return one_line(error)[:REASON]


@dataclass(frozen=True)
class Npz(OwnFiles):
    """A person's own archives, taken as they are: each has ``y`` and either ``X`` (dense) or the
    arrays of scipy's ``save_npz`` for CSR (``data``, ``indices``, ``indptr``, ``shape``)."""

    def load(self) -> Data:
        paths = self.paths()
        files = list(paths.values())
        if sum(map(unpacked_size, files)) > memory() / MEMORY_SHARE:
            parts = mapped(paths)
        else:
            with unchanged(files):
                parts = {part: read(path, f"dataset.{part}") for part, path in paths.items()}
        widest = max(X.shape[1] for X, _ in parts.values())
        return as_data({part: (widened(X, widest), y) for part, (X, y) in parts.items()})


def mapped(paths: Mapping[str, Path]) -> Parts:
    """(X, y) of each part, memory-mapped; unpacked on the first time only."""

    def pairs(folder: Path) -> Parts:
        return {
            part: pair_of(unpacked(folder, part, WANTED), f"dataset.{part}: {str(path)!r}")
            for part, path in paths.items()
        }

    options = {"unpacked": list(paths)}
    return kept(list(paths.values()), options, lambda to: unpack(paths, to, WANTED), pairs)


def read(path: Path, where: str) -> Pair:
    named = f"{where}: {str(path)!r}"
    try:
        with open(path, "rb") as file:
            arrays = read_arrays(file, named)
    except UNREADABLE as error:
        raise UidsError(f"{where}: cannot read {str(path)!r}: {reason(error)}") from error
    return pair_of(arrays, named)


def pair_of(arrays: Mapping[str, Any], named: str) -> Pair:
    if "y" in arrays and "X" in arrays:
        X, y = arrays["X"], arrays["y"]
        if X.ndim != 2:
            raise UidsError(f"{named}: X must have rows and columns (its shape is {X.shape})")
        return X, y
    if {"y", "data", "indices", "indptr", "shape"} <= set(arrays):
        return csr_of(arrays, named), arrays["y"]
    raise UidsError(f"{named} must hold {HOLDS}; it holds {', '.join(sorted(arrays)) or 'nothing'}")


def read_rows(path: Path, width: int) -> Any:
    """X alone, for rows whose labels are not known; a sparse one as wide as ``width`` at least."""
    named = repr(str(path))
    try:
        with open(path, "rb") as file:
            arrays = read_arrays(file, named, single=True)
    except UNREADABLE as error:
        raise UidsError(f"cannot read {named}: {reason(error)}") from error
    if "X" in arrays:
        return arrays["X"]
    if {"data", "indices", "indptr", "shape"} <= set(arrays):
        return widened(csr_of(arrays, named), width)
    raise UidsError(f"{named} must hold X, or data, indices, indptr and shape")


def read_arrays(file: BinaryIO, named: str, single: bool = False) -> dict[str, Any]:
    """The arrays of an archive, as large as the machine can hold; what else it has is not read."""
    if file.read(6) == np.lib.format.MAGIC_PREFIX:
        raise UidsError(
            f"{named} is a single array (.npy), not an archive: it must hold {HOLDS}; write it "
            "with numpy.savez"
        )
    file.seek(0)
    with zipfile.ZipFile(file) as members:
        sizes = {info.filename.removesuffix(".npy"): info.file_size for info in members.infolist()}
    refuse_beyond_memory(sum(sizes.get(name, 0) for name in WANTED), named)
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        held = [name for name in archive.files if name != "format"]
        arrays = {name: archive[name] for name in held if name in WANTED}
        return arrays if single or len(arrays) > 1 else dict.fromkeys(held)


def widened(X: sp.spmatrix, width: int) -> Any:
    """A sparse X with as many columns as the widest part: the columns that are missing are 0."""
    if sp.issparse(X) and X.shape[1] < width:
        return sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    return X
