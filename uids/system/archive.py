"""Plain values and arrays in one file, which runs no code when it is read: an .npz without pickles,
the values as JSON in an array of bytes."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from uids.errors import UidsError, one_line
from uids.system.files import plain, replacing
from uids.system.memory import refuse_beyond_memory

HEADER = "header"
REASON = 200  # characters that are shown of the reason why a file cannot be read
# Whatever a damaged archive makes zipfile, zlib, json and numpy's reader of headers raise.
UNREADABLE = (
    *(OSError, ValueError, EOFError, KeyError, TypeError, SyntaxError, OverflowError),
    *(NotImplementedError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error, struct.error),
)

Archive = tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]  # the values, and the arrays by name


def write_archive(
    path: Path, values: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> None:
    text = json.dumps(plain(dict(values)), ensure_ascii=False, allow_nan=False)
    header = np.frombuffer(text.encode(), dtype=np.uint8)
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise UidsError(f"{path}: {name} holds objects, which a file cannot hold without code")
    with replacing(path) as temporary, open(temporary, "wb") as file:
        save: Any = np.savez  # annotated as if a name could not be in a mapping
        save(file, **{HEADER: header}, **arrays)


def read_archive(path: Path) -> Archive:
    try:
        with zipfile.ZipFile(path) as members:
            size = sum(info.file_size for info in members.infolist())
        refuse_beyond_memory(size, str(path))
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
        values = json.loads(arrays.pop(HEADER).tobytes())
        if not isinstance(values, dict):
            raise ValueError("its header is no mapping")
    except FileNotFoundError as error:
        raise UidsError(f"there is no file {str(path)!r}") from error
    except UNREADABLE as error:
        raise UidsError(f"cannot read {str(path)!r}: {one_line(error)[:REASON]}") from error
    return values, arrays
