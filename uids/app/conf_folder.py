"""Where the configs lie that uids itself brings."""

from __future__ import annotations

from pathlib import Path


def conf_folder() -> Path:
    """``conf`` inside the installed package, or at the top of the checkout."""
    package = Path(__file__).resolve().parent.parent
    return next(folder for folder in (package / "conf", package.parent / "conf") if folder.is_dir())
