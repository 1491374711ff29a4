"""How an object shows itself: on one line, and in a notebook as small pieces of HTML, in which text
of anyone's is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from uids.system.visible import visible


def text(value: object) -> str:
    """Nothing in it is a tag, and nothing in it is obeyed."""
    return escape(visible(str(value)))


def paragraph(words: object) -> str:
    return f"<p>{text(words)}</p>"


def table(head: Sequence[object], lines: Sequence[Sequence[object]], caption: str = "") -> str:
    """Cells as they are given: whoever has numbers writes them out."""
    title = f"<caption>{text(caption)}</caption>" if caption else ""
    top = "".join(f"<th>{text(cell)}</th>" for cell in head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in line) + "</tr>" for line in lines
    )
    return f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"


def facts(caption: str, values: Mapping[str, object]) -> str:
    """Names and values, one below the other."""
    return table(["", ""], list(values.items()), caption)


def line(name: str, values: Mapping[str, object]) -> str:
    """``<uids.FittedLogistic: classes 2, features 30>``"""
    return f"<uids.{name}: {', '.join(f'{key} {value}' for key, value in values.items())}>"
