"""Archives of numpy that are large beside the memory: their arrays are unpacked once, to the cache
folder, and mapped from there."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from uids.datasets.csr import index_type, shape_of
from uids.errors import UidsError, one_line
from uids.system.archive import REASON, UNREADABLE

CHUNK = 2**20  # bytes that are unpacked at a time
BLOCK = 2**26  # bytes of rows whose type or order is changed at a time
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def unpacked_size(path: Path) -> int:
    """Bytes of all arrays of an archive; 0 where it is none, which whoever reads it will say."""
    try:
        with zipfile.ZipFile(path) as members:
            return sum(info.file_size for info in members.infolist())
    except UNREADABLE:
        return 0


def unpack(paths: Mapping[str, Path], folder: Path, wanted: tuple[str, ...]) -> None:
    """The wanted arrays of each part's archive, each in a file ``part-name.npy``: rows of X one
    after the other, in floating point, indices as narrow as they can be."""
    _refuse_beyond_disk(paths, folder)
    for part, path in paths.items():
        try:
            with zipfile.ZipFile(path) as members:
                for info in members.infolist():
                    name = info.filename.removesuffix(".npy")
                    if name in wanted:
                        with (
                            members.open(info) as packed,
                            open(folder / f"{part}-{name}.npy", "wb") as file,
                        ):
                            shutil.copyfileobj(packed, file, CHUNK)
            _convert(folder, part, wanted)
        except OSError:
            raise  # of the disk, not of the archive
        except UNREADABLE as error:
            reason = one_line(error)[:REASON]
            raise UidsError(f"dataset.{part}: cannot read {str(path)!r}: {reason}") from error


def _refuse_beyond_disk(paths: Mapping[str, Path], folder: Path) -> None:
    """Few bytes can be unpacked to very many."""
    needed, free = sum(map(unpacked_size, paths.values())), shutil.disk_usage(folder).free
    if needed > free:
        names = " and ".join(str(path) for path in paths.values())
        raise UidsError(
            f"{names} must be unpacked, which needs {needed / 2**30:,.1f} GiB on the disk, and "
            f"{folder.parent} has {free / 2**30:,.1f} GiB: set XDG_CACHE_HOME to a folder with room"
        )


def unpacked(folder: Path, part: str, wanted: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
    """What ``unpack`` has put there, mapped."""
    paths = {name: folder / f"{part}-{name}.npy" for name in wanted}
    return {
        name: np.load(path, mmap_mode="r", allow_pickle=False)
        for name, path in paths.items()
        if path.exists()
    }


def _convert(folder: Path, part: str, wanted: tuple[str, ...]) -> None:
    found = unpacked(folder, part, wanted)
    for name in {"X", "data"} & set(found):
        if found[name].dtype.kind in "fiub":
            native = found[name].dtype.newbyteorder("=")
            kind = native if native in FLOATS else np.dtype(np.float64)
            _rewrite(folder / f"{part}-{name}.npy", found[name], kind)
    if {"indices", "indptr", "shape"} <= set(found):
        narrow = np.dtype(index_type(shape_of(found["shape"]), found["indices"].size))
        for name in ("indices", "indptr"):
            if _fits(found[name], narrow):
                _rewrite(folder / f"{part}-{name}.npy", found[name], narrow)


def _fits(numbers: npt.NDArray[Any], narrow: np.dtype[Any]) -> bool:
    """Or a number that is wrong would become another, and might look right."""
    if numbers.dtype.kind not in "iu":
        return False
    low, high = numbers.min(initial=0), numbers.max(initial=0)
    return bool(low >= 0 and high <= np.iinfo(narrow).max)


def _rewrite(path: Path, array: npt.NDArray[Any], kind: np.dtype[Any]) -> None:
    if array.dtype == kind and array.flags.c_contiguous:
        return
    other = path.with_suffix(".other")
    mapped: Callable[..., npt.NDArray[Any]] = np.lib.format.open_memmap  # without types before 2.3
    written = mapped(other, "w+", kind, array.shape)
    for rows in _blocks(array):
        written[rows] = array[rows]
    del written
    other.replace(path)


def _blocks(array: npt.NDArray[Any]) -> Iterator[slice]:
    height = max(1, BLOCK // max(1, array[:1].nbytes))
    return (slice(start, start + height) for start in range(0, len(array), height))
