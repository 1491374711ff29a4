"""A table: named columns of Arrow arrays, read some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Columns = dict[str, Any]  # name ↦ arrow array: some rows of a table
Kinds = dict[str, str]  # name ↦ what the column holds, see ``kinds.py``


@dataclass(frozen=True)
class Table:
    """Named columns that are read some rows at a time.

    ``kinds(names)`` is what these columns hold; ``batches(names)`` are their rows in order.
    ``where`` is for errors, and so is ``in_python``: how the options are written there.
    """

    where: str
    columns: list[str]
    kinds: Callable[[Sequence[str]], Kinds]
    batches: Callable[[Sequence[str]], Iterator[Columns]]
    in_python: bool = False
    typed: bool = True  # else all of its cells are text

    def option(self, name: str) -> str:
        """``dataset.target``, or ``target``"""
        return name if self.in_python else f"dataset.{name}"

    def setting(self, name: str, value: str, many: bool = False) -> str:
        """``dataset.drop=[town]``, or ``drop=["town"]``"""
        value = f'"{value}"' if self.in_python else value
        return f"{self.option(name)}={f'[{value}]' if many else value}"

    def numbered(self, names: Sequence[str]) -> Iterator[tuple[int, Columns]]:
        """Batches of at least one row, each with the number of its first row."""
        row = 0
        for columns in self.batches(names):
            count = len(columns[names[0]])
            if count:
                yield row, columns
            row += count
