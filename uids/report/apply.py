"""The training file, or files, without the rows that a run has dropped."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from uids.backends import Array
from uids.datasets.formats.file_names import format_of
from uids.errors import UidsError
from uids.pipeline.row_table import OWN, keeps
from uids.report.metrics_file import file_format
from uids.report.run import read_influence, read_metrics
from uids.system.files import replacing

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def apply_run(folder: Path, files: Sequence[Path], out: Path) -> tuple[int, int]:
    """Writes ``files`` without the dropped rows, and gives how many went and how many there were.
    The lines of text stay byte for byte as they were. Of several, which share the rows in the order
    of their names, each is written into the folder ``out`` under its own name."""
    metrics = read_metrics(folder)
    if metrics["status"] != "ok":
        raise UidsError(f"there is no finished run in {str(folder)!r}")
    for file in files:
        if not file.is_file():
            raise UidsError(f"there is no file {str(file)!r}")
    table = read_influence(folder / "influence.parquet")
    row, kept = (table[name].to_numpy() for name in ("row", "kept"))
    count = metrics["dataset"].get("source_rows", int(row.max()) + 1)
    if len(row) and not 0 <= row.min() <= row.max() < count:
        raise UidsError(f"{folder / 'influence.parquet'} is damaged: start the run again")
    stays = keeps(row, kept, count)
    ids = table.select(["row", *(name for name in table.column_names if name not in OWN)])
    kinds = {file: kind_of(file, file_format(metrics)) for file in files}
    if len(files) == 1:
        (kind,) = kinds.values()
        if (format_of(str(out)) or kind) != kind:
            name = files[0].name
            raise UidsError(f"{name} is {kind}, and so must be {out.name}: give it the same end")
        WRITERS[kind](files[0], out, stays, ids)
    else:
        write_parts(kinds, out, stays, ids)
    return int((~stays).sum()), count


def kind_of(file: Path, otherwise: str) -> str:
    kind = format_of(str(file)) or otherwise
    if kind not in WRITERS:
        raise UidsError(f"{file.name} is neither csv, parquet nor libsvm: use result.kept_rows(…)")
    return kind


def write_parts(kinds: dict[Path, str], out: Path, stays: Array, ids: pa.Table) -> None:
    """A file without a byte has no row, and is left out."""
    files = sorted((file for file in kinds if file.stat().st_size), key=str)
    if len({file.name for file in files}) < len(files):
        raise UidsError(f"two of the files have one name, and cannot both be written into {out}")
    ends = np.cumsum([0, *(COUNTS[kinds[file]](file) for file in files)])
    check_count(int(ends[-1]), stays, f"the {len(files)} files have")
    out.mkdir(parents=True, exist_ok=True)
    row = ids["row"].to_numpy()
    for file, begin, end in zip(files, ends[:-1], ends[1:], strict=True):
        own = ids.filter(pa.array((begin <= row) & (row < end)))
        own = own.set_column(0, "row", pa.array(own["row"].to_numpy() - begin))
        WRITERS[kinds[file]](file, out / file.name, stays[begin:end], own)


def write_kept_parquet(file: Path, out: Path, stays: Array, ids: pa.Table) -> None:
    rows = pq.read_table(file)
    check_count(len(rows), stays, f"{file} has")
    for name in ids.column_names:
        if name in rows.column_names:
            same_ids(ids, name, rows[name], file)
    with replacing(out) as temporary:
        pq.write_table(rows.filter(pa.array(stays)), temporary)


def write_kept_csv(file: Path, out: Path, stays: Array, ids: pa.Table) -> None:
    from uids.datasets.formats.csv import Csv

    table = Csv(str(file)).open(file, str(file))
    for name in ids.column_names:
        if name in table.columns:
            cells = pa.chunked_array([batch[name] for batch in table.batches([name])])
            same_ids(ids, name, cells, file)
    with opened(file, "rb") as source:
        write_kept(records(source, delimiter_of(file)), 1, file, out, stays)


def delimiter_of(file: Path) -> bytes:
    return b"\t" if ".tsv" in file.suffixes else b","


def write_kept_lines(file: Path, out: Path, stays: Array, ids: pa.Table) -> None:
    with opened(file, "rb") as source:
        write_kept(lines(source), 0, file, out, stays)


def lines(source: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    return ((line, not line.partition(b"#")[0].strip()) for line in source)


def count_csv(file: Path) -> int:
    with opened(file, "rb") as source:
        return sum(not blank for _, blank in records(source, delimiter_of(file))) - 1


def count_lines(file: Path) -> int:
    with opened(file, "rb") as source:
        return sum(not blank for _, blank in lines(source))


def count_parquet(file: Path) -> int:
    return int(pq.read_metadata(file).num_rows)


def write_kept(
    lines: Iterable[tuple[bytes, bool]], head: int, file: Path, out: Path, stays: Array
) -> None:
    """``lines`` are records, and whether they are blank and so no rows; the first ``head`` of the
    others are no rows either."""
    row = -head
    with replacing(out) as temporary, opened(temporary, "wb") as target:
        for line, blank in lines:
            if blank or row < 0 or (row < len(stays) and stays[row]):
                target.write(line)
            row += not blank
        check_count(row, stays, f"{file} has")


WRITERS: dict[str, Callable[[Path, Path, Array, pa.Table], None]] = {
    "csv": write_kept_csv,
    "parquet": write_kept_parquet,
    "libsvm": write_kept_lines,
}
COUNTS = {"csv": count_csv, "parquet": count_parquet, "libsvm": count_lines}


def opened(path: Path, mode: str) -> IO[bytes]:
    """By the end of its name."""
    if path.suffix == ".zst":
        raise UidsError(f"{path.name}: unpack it first; .gz, .bz2 and .xz are read as they are")
    return OPENERS.get(path.suffix, open)(path, mode)


def check_count(count: int, stays: npt.NDArray[np.bool_], who: str) -> None:
    if count != len(stays):
        raise UidsError(
            f"{who} {count:,} rows, and the training file of the run had {len(stays):,}: give "
            "that file, or all of them where it had several"
        )


def same_ids(ids: pa.Table, name: str, column: pa.ChunkedArray, file: Path) -> None:
    """The ids at the training rows are those of the run: else it is another file, or in another
    order."""
    check = column.cast(pa.large_string()), ids[name].cast(pa.large_string())
    row = ids["row"].to_numpy()
    if not len(row) or row.max() >= len(column):
        return  # too few rows, which is told by their count
    there, here = check[0].take(pa.array(row)).to_pylist(), check[1].to_pylist()
    other = next(
        (i for i, pair in enumerate(zip(here, there, strict=True)) if pair[0] != pair[1]), None
    )
    if other is not None:
        raise UidsError(
            f"{file}: {name} is {there[other]!r} in row {row[other]}, and was {here[other]!r} in "
            "the run: it is another file, or in another order"
        )


def records(source: IO[bytes], delimiter: bytes) -> Iterator[tuple[bytes, bool]]:
    """The records of a CSV as they are, line ends and all, and whether they are blank. A line end
    in quotes ends no record."""
    held, is_open = b"", False
    for ended in source:
        for line in ended.splitlines(keepends=True):
            is_open = open_after(line, is_open, delimiter)
            held += line
            if not is_open:
                yield held, not held.strip(b"\r\n")
                held = b""
    if held:
        yield held, False


def open_after(line: bytes, is_open: bool, delimiter: bytes) -> bool:
    """Whether quotes are open at the end of a line. They open only where a field begins; within
    them two are one, and stand for themselves."""
    if b'"' not in line:
        return is_open
    place = 0
    while True:
        if not is_open:
            if line[place : place + 1] != b'"':
                place = line.find(delimiter, place) + 1
                if not place:
                    return False
                continue
            is_open, place = True, place + 1
        place = line.find(b'"', place) + 1
        if not place:
            return True
        if line[place : place + 1] == b'"':
            place += 1
        else:
            is_open = False
            place = line.find(delimiter, place) + 1
            if not place:
                return False
