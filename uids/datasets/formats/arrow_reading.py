"""What all that is read by Arrow shares: errors in one line, and progress."""

from __future__ import annotations

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


def text_batches(
    path: Path, where: str, block: int, layout: Any, convert: Any, names: list[str] | None = None
) -> Iterator[Any]:
    """The rows of a file of text as record batches of Arrow, ``block`` bytes at a time. ``names``
    are those of all columns, where the file has no header."""
    # Arrow makes one batch of each block. How much text a compressed file holds is not known.
    size = 0 if path.suffix in PACKED else path.stat().st_size
    steps = Steps(f"read {path.name}", size)
    options = pa_csv.ReadOptions(block_size=block, column_names=names)
    with reading(where), pa_csv.open_csv(path, options, layout, convert) as file:
        for number, batch in enumerate(file, start=1):
            yield batch
            steps.done(min(number * block, size or number * block))
