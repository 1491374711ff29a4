"""Files that are either whole or not there."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uids.system.owner import end_without_owner
from uids.system.unfinished import begin, end


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to, which takes the place of ``path`` when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = begin(path.parent, path.stem, path.suffix)
    try:
        temporary.touch(exist_ok=False)
        yield temporary
        end_without_owner()
        temporary.replace(path)
    except OSError as error:
        link: BaseException | None = error
        while isinstance(link, OSError):  # what fails to be written fails again when it is closed
            if link.errno is not None and link.filename in (None, str(temporary)):
                link.filename = str(path)  # a full disk does not say which
            link = link.__context__
        raise
    finally:
        end(temporary)


def write_text(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    text = json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def plain(value: Any) -> Any:
    """The value in JSON's own types; a number that is not finite has none, and becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [plain(child) for child in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return plain(value.item()) if hasattr(value, "item") else str(value)
