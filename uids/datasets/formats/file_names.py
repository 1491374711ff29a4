"""What the end of a file's name says."""

from __future__ import annotations

import glob
from pathlib import Path, PurePath

TABLES = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}
OTHERS = {".npz": "npz", ".libsvm": "libsvm", ".svm": "libsvm", ".svmlight": "libsvm"}
PACKED = (".gz", ".bz2", ".zst", ".xz")


def format_of(path: str) -> str | None:
    """By the end of the file's name: csv, parquet, npz or libsvm; None where it does not tell."""
    ends = [end.lower() for end in PurePath(path).suffixes]
    if ends and ends[-1] in PACKED:
        ends = ends[:-1]
    return {**TABLES, **OTHERS}.get(ends[-1]) if ends else None


def files_named(given: str) -> list[Path]:
    """The files of this machine that a path or a pattern (part-*.txt) names, in the order of their
    names; a file that is called like a pattern is itself."""
    here = [given] if Path(given).is_file() else sorted(glob.glob(given, recursive=True))
    return [path for path in map(Path, here) if path.is_file()]
