"""What all that is read by Arrow shares: errors in one line, and progress."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from uids.errors import UidsError, one_line
from uids.system.progress import Steps

BLOCK = 2**25  # bytes of text that are read at a time
PACKED = (".gz", ".bz2", ".zst", ".lz4", ".br")  # what Arrow unpacks by the end of the file's name
REASON = 300  # characters that are shown of the reason why a file cannot be read


@contextmanager
def reading(where: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UidsError(f"cannot read {where}: {one_line(error)[:REASON]}") from error


@contextmanager
def reading_text(path: Path, where: str, *how: object) -> Iterator[None]:
    """``reading`` of rows of text, of which one that has not as many cells as the others is told
    with its number. ``how`` are the options by which Arrow reads it."""
    with reading(where):
        try:
            yield
        except pa.ArrowInvalid as error:
            told = numbered(error, path, *how)
            raise told from (None if told is error else error)  # a cause of itself has no end


WRONG_ROW = re.compile(
    r"CSV parse error: (?:Row #(\d+): )?(Expected \d+ columns, got .*)", re.DOTALL
)


def numbered(
    error: pa.ArrowInvalid,
    path: Path,
    options: pa_csv.ReadOptions,
    layout: pa_csv.ParseOptions,
    convert: pa_csv.ConvertOptions | None = None,
) -> pa.ArrowInvalid:
    """Arrow counts rows only where a single thread reads: so it does once more."""
    found = WRONG_ROW.fullmatch(str(error))
    if found is None:
        return error
    if found[1] is None:
        try:
            options.use_threads = False
            with pa_csv.open_csv(path, options, layout, convert) as file:
                for _ in file:
                    pass
        except pa.ArrowInvalid as again:
            found = WRONG_ROW.fullmatch(str(again)) or found
    if found[1] is None:
        return error
    above = 1 if options.column_names else 2  # Arrow begins with 1, and counts the header too
    return pa.ArrowInvalid(f"row {int(found[1]) - above}, counted from 0: {found[2]}")


def text_batches(
    path: Path, where: str, block: int, layout: Any, convert: Any, names: list[str] | None = None
) -> Iterator[Any]:
    """The rows of a file of text as record batches of Arrow, ``block`` bytes at a time. ``names``
    are those of all columns, where the file has no header."""
    # Arrow makes one batch of each block. How much text a compressed file holds is not known.
    size = 0 if path.suffix in PACKED else path.stat().st_size
    steps = Steps(f"read {path.name}", size)
    options = pa_csv.ReadOptions(block_size=block, column_names=names)
    with (
        reading_text(path, where, options, layout, convert),
        pa_csv.open_csv(path, options, layout, convert) as file,
    ):
        for number, batch in enumerate(file, start=1):
            yield batch
            steps.done(min(number * block, size or number * block))
