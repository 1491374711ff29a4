"""HTML pages, each one file that asks the network for nothing."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #ddd; text-align: right;
         font-variant-numeric: tabular-nums }
th { border-bottom: 2px solid #888 }
td.word, th.word { text-align: left }
pre { background: #f4f4f4; padding: .8rem; overflow-x: auto }
img { max-width: 100% }
.strong { font-size: 1.15rem; font-weight: 600 }
.note { border-left: 4px solid #c44e52; padding-left: .8rem }
"""


def page(title: str, body: Sequence[str]) -> str:
    content = "\n".join(body)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{content}\n</body>\n</html>\n"
    )


def table(
    rows: Sequence[Sequence[str]], words: int, marks: Mapping[tuple[int, int], str] | None = None
) -> str:
    """The first row is the head; the first ``words`` columns hold words, the others numbers.
    ``marks`` are as in ``Section``."""
    wrap = {"b": "<b>{}</b>", "u": "<b><u>{}</u></b>"}

    def line(i: int, cells: Sequence[str], tag: str) -> str:
        marked = (
            f"<{tag}{' class=word' if j < words else ''}>"
            + wrap.get((marks or {}).get((i, j), ""), "{}").format(escape(cell))
            + f"</{tag}>"
            for j, cell in enumerate(cells)
        )
        return f"<tr>{''.join(marked)}</tr>"

    head, *lines = rows
    body = "\n".join(line(i, cells, "td") for i, cells in enumerate(lines, 1))
    return f"<table>\n<thead>{line(0, head, 'th')}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, note: bool = False, strong: bool = False) -> str:
    kind = " class=note" if note else " class=strong" if strong else ""
    return f"<p{kind}>{escape(text)}</p>"


def code(text: str) -> str:
    return f"<pre><code>{escape(text)}</code></pre>"


def image(png: bytes, alt: str) -> str:
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
