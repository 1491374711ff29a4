"""The hint for whoever names a file where a data set or an override is wanted."""

from __future__ import annotations

import shlex
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


def hint(path: str) -> str | None:
    """What to type for a file of one's own."""
    kind = format_of(path)
    if kind is None:
        return None
    target = " dataset.target=COLUMN" if kind in TABLES.values() else ""
    return f"a file of your own: uids dataset={kind} dataset.train={shlex.quote(path)}{target}"
