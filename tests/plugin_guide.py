"""The parts of docs/plugins.md that are made: the files that ``uids plugins new`` writes, and the
table of hooks. ``python tests/plugin_guide.py`` makes them anew."""

from __future__ import annotations

import re
from pathlib import Path

from uids.app.plugins.new import files
from uids.plugin import HOOKS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "plugins.md"
SOURCE = re.compile(r"(<!-- generated: (\w+) (\w+) -->\n).*?(<!-- /generated -->)", re.DOTALL)
TABLE = re.compile(r"(<!-- hooks -->\n).*?(<!-- /hooks -->)", re.DOTALL)


def source(kind: str, name: str) -> str:
    """The component as the command writes it, with the name of its file above it."""
    package = f"uids-{kind}-{name.replace('_', '-')}"
    file = f"{package.replace('-', '_')}/{name}.py"
    return f"```python\n# {package}/{file}\n{files(name, kind, package)[file]}```\n"


def table() -> str:
    lines = ["| kind | on | name | what |", "|---|---|---|---|"]
    for hook in HOOKS:
        says = hook.says.replace("|", "\\|")
        what = f"**required** {says}" if hook.required else says
        lines.append(f"| {hook.kind} | {hook.on} | `{hook.name}` | {what} |")
    return "\n".join(lines) + "\n"


def made(text: str) -> str:
    text = SOURCE.sub(lambda m: m[1] + source(m[2], m[3]) + m[4], text)
    return TABLE.sub(lambda m: m[1] + table() + m[2], text)


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
