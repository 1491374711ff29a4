"""How a room declares its settings: a dataclass whose fields have a default and a help."""

from __future__ import annotations

from dataclasses import field
from typing import Any

AUTO = "auto"  # the value of a key that cross-fitting is to choose


def key(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


def one_of(words: tuple[str, ...]) -> str:
    return " or ".join(repr(word) for word in words)
