"""Text of anyone's in files that a program reads for more than text: Markdown and CSV."""

from __future__ import annotations

import re

from uids.system.visible import visible

# What begins a link, a picture, code, a cell, or stands for the next character itself.
MARKUP = re.compile(r"[\\`*\[\]|]")
# With these a spreadsheet takes a cell for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def plain_markdown(text: str) -> str:
    """The text as it is, wherever Markdown is shown: no HTML, no links, one line."""
    text = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return MARKUP.sub(r"\\\g<0>", text)


def plain_cell(value: object) -> object:
    """A cell that no spreadsheet computes. Numbers stay numbers, also those that are text."""
    if not isinstance(value, str) or not value.startswith(FORMULA) or _is_number(value):
        return visible(value) if isinstance(value, str) else value
    return "'" + visible(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
