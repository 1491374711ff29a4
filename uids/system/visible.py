"""Text of anyone's, made fit to be shown: a terminal obeys control characters."""

from __future__ import annotations

import unicodedata

# Cc: control characters, the escapes of terminals among them. Cf: marks without a shape, such as
# those that turn the direction of writing. Cs: halves of characters, which cannot be printed.
# Zl, Zp: ends of lines that are not seen as such.
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    """The same text in one line, with ``\\x1b`` and the like in place of what would not be seen."""
    if text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in UNSEEN else c
        for c in text
    )


def visible_lines(text: str) -> str:
    """The same for text of several lines."""
    return "\n".join(visible(line) for line in text.split("\n"))
