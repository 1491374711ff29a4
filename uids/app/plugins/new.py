"""``uids plugins new NAME --kind KIND [DIR]``"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from pathlib import Path

from uids.app.parser import Parser
from uids.app.terminal import say
from uids.errors import UidsError
from uids.registry import REGISTRIES
from uids.system.files import write_text

TEMPLATES = Path(__file__).parent / "templates"
LONGEST = 24  # characters of a name: beyond them the lines of the files would be too long


def new(arguments: Sequence[str]) -> int:
    """Write a package with a small component that works, and its tests."""
    parser = Parser("uids plugins new", description=new.__doc__)
    parser.add_argument("name", help="of the component, as in sampler=NAME")
    parser.add_argument("--kind", required=True, choices=sorted(REGISTRIES), help="what it is")
    parser.add_argument("folder", nargs="?", type=Path, help="by default ./uids-KIND-NAME")
    given = parser.parse_intermixed_args(arguments)  # DIR may stand behind --kind
    name, kind = checked_name(given.name, given.kind), given.kind
    package = f"uids-{kind}-{name.replace('_', '-')}"
    folder: Path = given.folder or Path(package)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UidsError(f"{str(folder)!r} is there already: give another folder, or remove it")
    for file, text in files(name, kind, package).items():
        write_text(folder / file, text)
    say(
        f"{folder} is a package with the {kind} {name!r}. Next:\n"
        f"  pip install -e {folder}\n"
        f"  uids plugins check {name}\n"
        f"  uids {kind}={name}"
    )
    return 0


def checked_name(name: str, kind: str) -> str:
    plain = name.replace("-", "_")
    if keyword.iskeyword(plain):
        raise UidsError(f"{name!r} is a word of Python itself: take another name")
    wrong = not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", plain)
    if wrong or len(plain) > LONGEST:
        raise UidsError(
            f"a name has at most {LONGEST} small letters, digits and single _, and begins with a "
            f"letter; {name!r} does not"
        )
    taken = [entry for entry in REGISTRIES[kind].entries() if entry.name == plain]
    if taken:
        raise UidsError(
            f"{kind} {plain!r} is there already, of package {taken[0].package!r}: take another name"
        )
    return plain


def files(name: str, kind: str, package: str) -> dict[str, str]:
    """The package, file by file."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # These are sources and no pages: nothing is to be escaped, and no value is anybody else's.
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True
    )
    module = package.replace("-", "_")
    known = {
        "name": name,
        "kind": kind,
        "package": package,
        "module": module,
        "cls": "".join(word.capitalize() for word in name.split("_")),
    }
    sources = {
        "pyproject.toml": "pyproject.toml.j2",
        "README.md": "README.md.j2",
        "LICENSE": "LICENSE.j2",
        f"{module}/__init__.py": "init.py.j2",
        f"{module}/{name}.py": f"{kind}.py.j2",
        f"tests/test_{name}.py": f"test_{kind}.py.j2",
    }
    texts = {
        file: environment.get_template(source).render(known) for file, source in sources.items()
    }
    return {**texts, f"{module}/py.typed": ""}
