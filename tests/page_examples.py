"""The examples of a page of the guide: its code blocks, and the commands within its text.

A python block is an example, and so is each line of a block that is indented or whose language is
bash or none: ``uids …``, ``make run …``, ``head FILE`` or ``pip install -e ./DIR``. Blocks of other
languages only show something; one whose first lines are a comment with a file's name is that file.
In the text, `uids …` and `make run ARGS=…` are examples, unless they have a placeholder: `uids
report DIR`.

A comment right before says that something is not run: <!-- not run: why -->. Before a block, a
paragraph or a table it is about all of it, before backticks about those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARK = re.compile(r"<!-- not run: \S.* -->")
NAMED = re.compile(r"^# (\S+\.(?:py|toml|yaml))$", re.MULTILINE)
PLACEHOLDER = re.compile(r"…|\b[A-Z]{2,}\b(?!=)")  # ARGS= is not one
COMMANDS = ("", "bash")
COMMAND = re.compile(r"(uids|make run|head)(\s|$)|pip install -e \./")
SHOWN = ("text", "toml", "yaml")


@dataclass(frozen=True)
class Example:
    """``kind``: python, command, file (``name`` is its path), or unclear: not run, not marked."""

    kind: str
    text: str
    line: int  # in the page, from 1
    name: str = ""


def examples(page: Path) -> Iterator[Example]:
    """In the order of the page, without those that are marked."""
    marked = False
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            marked = bool(MARK.fullmatch(token.content.strip()))
            continue
        if not marked:
            yield from _examples(token)
        if token.level == 0 and token.nesting <= 0:  # the end of what the mark was about
            marked = False


def _examples(token: Token) -> Iterator[Example]:
    line = token.map[0] + 1 if token.map else 0
    if token.type in ("fence", "code_block"):
        yield from _of_block(token.info.strip(), token.content, line + (token.type == "fence"))
    elif token.type == "inline":
        yield from _of_text(token.children or [], line)


def _of_block(language: str, text: str, line: int) -> Iterator[Example]:
    named = NAMED.search("\n".join(text.splitlines()[:2]))
    if named:
        yield Example("file", text, line, named[1])
    if language == "python":
        yield Example("python", text, line)
    elif language in COMMANDS:
        for number, command in enumerate(text.splitlines(), line):
            if command.strip():
                kind = "command" if COMMAND.match(command) else "unclear"
                yield Example(kind, command, number)
    elif language not in SHOWN:
        yield Example("unclear", text, line)


def _of_text(children: list[Token], line: int) -> Iterator[Example]:
    before = ""
    for child in children:
        if child.type == "code_inline" and not MARK.fullmatch(before):
            text = child.content
            if text.startswith(("uids ", "make run ARGS=")) and not PLACEHOLDER.search(text):
                yield Example("command", text, line)
        before = child.content
