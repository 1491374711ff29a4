"""Where uids keeps what it may lose (the platform's cache folder) and looks for data sets."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    return Path(platformdirs.user_cache_dir("uids"))


def data_folder() -> Path:
    """UIDS_DATA: looked at first, and downloaded to."""
    given = os.environ.get("UIDS_DATA")
    return Path(given) if given else cache_folder() / "data"
