"""LIBSVM text, plain or compressed: the format of most sets of the paper."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from uids.datasets.csr import index_type
from uids.datasets.data import Data, Parts, as_data
from uids.datasets.formats.libsvm_text import BadLineError, Block, parse_block
from uids.datasets.formats.own_files import OwnFiles
from uids.datasets.parsed import GrowingArray, kept, load
from uids.errors import UidsError, one_line
from uids.system.progress import Steps

OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
BLOCK = 2**22  # bytes of text: 0.01 s of work, and the arrays of a few blocks are little memory
MOST_WORKERS = 8  # threads that parse; one reads and writes for all of them
CHUNK = 2**20  # numbers of an array that are rewritten at a time


@dataclass(frozen=True)
class Libsvm(OwnFiles):
    """A person's own files, taken as they are. The number of features is the largest in any of
    them. X is CSR."""

    file_format: ClassVar[str] = "libsvm"

    def load(self) -> Data:
        return as_data(read(self.paths()))


def read(paths: Mapping[str, Path], features: int | None = None) -> Parts:
    """(X, y) of each part, memory-mapped; parsed on the first time only."""
    options = {"features": features, "parts": list(paths)}
    return kept(list(paths.values()), options, lambda folder: parse(paths, folder, features), load)


def parse(
    paths: Mapping[str, Path],
    folder: Path,
    features: int | None = None,
    block: int = BLOCK,
    index: Any = None,
) -> None:
    """Write each part's CSR arrays and labels to the folder, as ``uids.datasets.parsed.kept`` wants
    them. The text is read, parsed and written in blocks of about ``block`` bytes, a few at a time,
    so that neither it nor the arrays have to fit in memory. ``index`` is the type of the indices,
    by default the narrowest that holds them.

    As in scikit-learn's reader, indices start from 0 if one of the files has an index 0 or no
    entry at all, else from 1; the number of features is the largest in any of them.
    """
    extents = {part: _write(path, folder, part, block) for part, path in paths.items()}
    base = 1 if all(extent.lowest > 0 for extent in extents.values()) else 0
    for part, extent in extents.items():
        if features is not None and extent.highest + 1 - base > features:
            raise UidsError(
                f"{paths[part]}: has {extent.highest + 1 - base} features, more than {features}"
            )
    width = features or max(1, *(extent.highest + 1 - base for extent in extents.values()))
    for part, extent in extents.items():
        dtype = index or index_type((extent.rows, width), extent.stored)
        _rewrite(folder / f"{part}-indptr.npy", dtype)
        _rewrite(folder / f"{part}-indices.npy", dtype, add=1 - base)
        np.save(folder / f"{part}-shape.npy", np.array((extent.rows, width)))


@dataclass
class Extent:
    """Of a file's rows: how many, their entries, and the least and largest index in the text; 0
    where there is no entry."""

    rows: int = 0
    stored: int = 0
    lowest: int = 0
    highest: int = 0

    def add(self, block: Block) -> None:
        if len(block.indices):
            lowest, highest = int(block.indices.min()) + 1, int(block.indices.max()) + 1
            self.lowest = min(self.lowest, lowest) if self.stored else lowest
            self.highest = max(self.highest, highest)
        self.rows += len(block.labels)
        self.stored += len(block.indices)


def _write(path: Path, folder: Path, part: str, size: int) -> Extent:
    """The arrays of one file, as if its indices started from 1, with indptr in int64."""
    types = {"y": "f8", "data": "f8", "indices": "i4", "indptr": "i8"}
    extent = Extent()
    with ExitStack() as stack:
        y, data, indices, indptr = (
            stack.enter_context(GrowingArray(folder / f"{part}-{name}.npy", type_))
            for name, type_ in types.items()
        )
        indptr.append(np.zeros(1, indptr.dtype))
        for block in _blocks(path, size):
            y.append(block.labels)
            data.append(block.values)
            indices.append(block.indices)
            indptr.append(block.ends + extent.stored)
            extent.add(block)
    return extent


def _blocks(path: Path, size: int) -> Iterator[Block]:
    """The parsed blocks of a file in order. While this thread reads (and decompresses) and its
    caller writes, others parse."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    workers = min(cores, MOST_WORKERS)
    waiting: deque[Future[Block]] = deque()
    lines = 0
    with ThreadPoolExecutor(workers) as pool:
        try:
            for text, scan in _texts(path, size):
                waiting.append(pool.submit(parse_block, text, scan))
                if len(waiting) > workers + 1:
                    block = waiting.popleft().result()
                    yield block
                    lines += block.lines
            while waiting:
                block = waiting.popleft().result()
                yield block
                lines += block.lines
        except BadLineError as error:
            where = f"{path}, line {lines + error.line + 1}"
            raise UidsError(f"{where}: not LIBSVM text: {error}") from error
        finally:
            for future in waiting:
                future.cancel()


def _texts(path: Path, size: int) -> Iterator[tuple[bytes, Any]]:
    """Whole lines, with the last line's end added where it is missing, and what to scan them with.

    A file that is a single block is read without the compiled scan: to import it takes longer.
    """
    scan: Any = None
    try:
        with open(path, "rb") as raw:
            steps = Steps(f"read {path.name}", path.stat().st_size)
            file = OPENERS[path.suffix](raw) if path.suffix in OPENERS else raw
            while text := file.read(size):
                if scan is None and len(text) == size:
                    from uids.datasets.formats import libsvm_kernel

                    scan = libsvm_kernel.scan
                if not text.endswith(b"\n"):
                    text += file.readline()
                yield text if text.endswith(b"\n") else text + b"\n", scan
                steps.done(raw.tell())
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise UidsError(f"{path}: cannot be read: {one_line(error)}") from error


def _rewrite(path: Path, dtype: Any, add: int = 0) -> None:
    """The array in the file as another type, or with something added."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.dtype == dtype and not add:
        return
    other = path.with_suffix(".other")
    with GrowingArray(other, dtype) as grown:
        for start in range(0, len(array), CHUNK):
            grown.append(array[start : start + CHUNK].astype(dtype) + np.asarray(add, dtype))
    del array  # some systems do not replace a file that is mapped
    other.replace(path)
