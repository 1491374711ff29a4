"""Loops in machine code. Importing this imports numba, which takes a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(fastmath: Any = False) -> Callable[[Any], Any]:
    """Compiled on first use for each type, without the GIL, and kept on disk where that is
    possible."""

    def decorate(function: Any) -> Any:
        try:
            return njit(nogil=True, cache=True, fastmath=fastmath)(function)
        except RuntimeError:  # neither the package nor the user's cache folder can be written
            return njit(nogil=True, fastmath=fastmath)(function)

    return decorate
