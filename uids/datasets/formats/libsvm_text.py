"""What LIBSVM text means, and a block of it as arrays.

A line is ``label [qid:…] index:value … [# comment]``, with anything that Python's ``float`` and
``int`` read; blank lines are none. Indices need not ascend, but none may be there twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

LARGEST = 2**31 - 1  # index; it is stored less one, as int32


class BadLineError(ValueError):
    """What is wrong in a line, with the number of lines before it."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Block:
    """The rows of whole lines. ``ends[i]`` counts the entries up to and with row i; ``indices``
    are those of the text less one."""

    labels: npt.NDArray[np.float64]
    ends: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    lines: int


def parse_line(line: bytes) -> tuple[float, list[int], list[float]] | None:
    """Label, ascending indices and values; None where the line is blank."""
    words = line.partition(b"#")[0].split()
    if not words:
        return None
    skip = 2 if len(words) > 1 and words[1].startswith(b"qid") and b":" in words[1] else 1
    try:
        label = float(words[0])
        pairs = [word.split(b":", 1) for word in words[skip:]]
        indices = [int(index) for index, _ in pairs]
        values = [float(value) for _, value in pairs]
    except ValueError:
        raise BadLineError(_fault(words[0], words[skip:])) from None
    order = sorted(indices)
    if order != indices:
        values = [values[i] for i in sorted(range(len(indices)), key=indices.__getitem__)]
    if order and (order[0] < 0 or order[-1] > LARGEST):
        wrong = order[0] if order[0] < 0 else order[-1]
        raise BadLineError(f"the index {wrong} is not from 0 to {LARGEST}")
    if len(set(order)) < len(order):
        twice = next(a for a, b in pairwise(order) if a == b)
        raise BadLineError(f"the index {twice} occurs twice")
    return label, order, values


def _fault(label: bytes, words: list[bytes]) -> str:
    def fails(kind: Callable[[bytes], Any], word: bytes) -> bool:
        try:
            kind(word)
        except ValueError:
            return True
        return False

    if fails(float, label):
        return f"the label {_shown(label)} is not a number"
    for word in words:
        index, colon, value = word.partition(b":")
        if not colon:
            return f"{_shown(word)} is not index:value"
        if fails(int, index):
            return f"the index of {_shown(word)} is not a whole number"
        if fails(float, value):
            return f"the value of {_shown(word)} is not a number"
    raise AssertionError("a line that cannot be read has a word that cannot be")


def _shown(word: bytes) -> str:
    text = word.decode("utf-8", errors="backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


def parse_block(text: bytes, scan: Callable[..., Any] | None) -> Block:
    """The rows of ``text``, which ends with a line end. ``scan`` (of ``libsvm_kernel``) reads what
    it can; the lines that it stops at, or without it all, are read by ``parse_line``."""
    # The shortest row is "1\n", the shortest entry " 1:1". Memory that is not written to is not
    # taken from the machine, so that too large costs nothing, and counting would.
    labels, ends = np.empty(len(text) // 2), np.empty(len(text) // 2, dtype=np.int64)
    indices, values = np.empty(len(text) // 4, dtype=np.int32), np.empty(len(text) // 4)
    array = np.frombuffer(text, dtype=np.uint8)
    start = row = stored = line = 0
    while start < len(text):
        if scan is not None:
            state = map(np.uint64, (start, row, stored, line))
            start, row, stored, line = map(int, scan(array, *state, labels, ends, indices, values))
            if start == len(text):
                break
        end = text.index(b"\n", start) + 1
        try:
            parsed = parse_line(text[start:end])
        except BadLineError as error:
            error.line = line
            raise
        if parsed is not None:
            label, columns, numbers = parsed
            labels[row] = label
            indices[stored : stored + len(columns)] = np.array(columns, dtype=np.int64) - 1
            values[stored : stored + len(columns)] = numbers
            stored += len(columns)
            ends[row] = stored
            row += 1
        start = end
        line += 1
    return Block(labels[:row], ends[:row], indices[:stored], values[:stored], line)
