"""What the end of a file's name says."""

from __future__ import annotations

from pathlib import PurePath

TABLES = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}
OTHERS = {".npz": "npz", ".libsvm": "libsvm", ".svm": "libsvm", ".svmlight": "libsvm"}
PACKED = (".gz", ".bz2", ".zst", ".xz")


def format_of(path: str) -> str | None:
    """By the end of the file's name: csv, parquet, npz or libsvm; None where it does not tell."""
    ends = [end.lower() for end in PurePath(path).suffixes]
    if ends and ends[-1] in PACKED:
        ends = ends[:-1]
    return {**TABLES, **OTHERS}.get(ends[-1]) if ends else None
