"""The hint for whoever names a file where a data set or an override is wanted."""

from __future__ import annotations

import shlex

from uids.datasets.formats.file_names import TABLES, format_of


def hint(path: str) -> str | None:
    """What to type for a file of one's own."""
    kind = format_of(path)
    if kind is None:
        return None
    target = " dataset.target=COLUMN" if kind in TABLES.values() else ""
    return f"a file of your own: uids dataset={kind} dataset.train={shlex.quote(path)}{target}"
