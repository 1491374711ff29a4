"""Each rule of the house on made-up source, so that none can pass by being blind."""

from __future__ import annotations

import re

import architecture as rules
import pytest
from source_tree import Module, defined, read


@pytest.fixture
def made(tmp_path):
    """made(path=source, …): the modules of a package ``uids`` with these files, "_" for "/"."""

    def write(**files):
        package = tmp_path / "uids"
        package.mkdir()
        (package / "__init__.py").write_text("")
        for name, source in files.items():
            file = package / f"{name.replace('_', '/')}.py"
            file.parent.mkdir(exist_ok=True, parents=True)
            (file.parent / "__init__.py").touch()
            file.write_text(source)
        return read(package)

    return write


@pytest.mark.parametrize(
    "back",
    [
        "import uids.a.one",
        "from uids.a import one",
        "from uids.a.one import f",
        "from . import one",
        "from ..a.one import f",
        "def g():\n    from uids.a.one import f",
        "from importlib import import_module\nimport_module('uids.a.one')",
        "if TYPE_CHECKING:\n    pass\nelse:\n    from uids.a.one import f",
    ],
)
def test_a_cycle_is_seen(made, back):
    modules = made(a_one="from uids.a.two import g", a_two="import uids.a.three", a_three=back)
    assert rules.cycles(modules) == ["uids.a.one and uids.a.three and uids.a.two import each other"]


def test_what_is_no_cycle(made):
    both = "from uids.a.two import g\nimport uids.a.three"
    typing = "if TYPE_CHECKING:\n    from uids.a.one import f"
    assert not rules.cycles(made(a_one=both, a_two=typing, a_three="import os"))


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("from uids.b.two import g", "a imports uids.b.two.g"),
        ("import uids.b.two as x", "a imports uids.b.two"),
        ("def f():\n    from ..b import two", "a imports uids.b.two"),
        ("if TYPE_CHECKING:\n    from uids.b.two import g", "a imports uids.b.two.g"),
        ("from uids import Data", "imports uids.Data by the front door"),
        ("import uids", "imports uids by the front door"),
    ],
)
def test_an_import_against_the_order_is_seen(made, source, wrong):
    modules = made(a_one=source, b_two="from uids.a.one import f")
    (seen,) = rules.out_of_order(modules, ["a", "b"])
    assert re.fullmatch(rf"uids/a/one\.py:\d: {re.escape(wrong)}", seen)


def test_imports_with_the_order_and_a_module_that_is_in_no_room(made):
    modules = made(
        a_one="from uids import __version__\nimport os", b_two="from uids.a.one import f", c=""
    )
    assert rules.out_of_order(modules, ["a", "b"]) == ["uids/c.py:1: c is no room"]


def test_foreign_packages_and_names_are_seen_outside_their_rooms(made):
    source = "# print(tqdm)\ndef f():\n    from tqdm.auto import tqdm\n    return [print]\n"
    modules = made(a_one=source, b_two=source)
    assert rules.imported_outside(modules, ["tqdm"], ["b"]) == [
        "uids/a/one.py:3: imports tqdm.auto.tqdm"
    ]
    assert rules.named_outside(modules, ["print"], ["b"]) == ["uids/a/one.py:4: print"]


def test_reaching_through_is_seen_outside_its_rooms(made):
    source = (
        "# X.source\nfrom scipy.sparse import issparse as s\nX.blocks()\nsp.issparse(X.y.source)\n"
    )
    modules = made(a_one=source, b_two=source)
    assert rules.reached_through(modules, ["source", "blocks"], ["issparse"], ["b"]) == [
        "uids/a/one.py:2: import issparse",
        "uids/a/one.py:3: X.blocks",
        "uids/a/one.py:4: sp.issparse",
        "uids/a/one.py:4: X.y.source",
    ]


def test_probes_are_seen_outside_doors(made):
    source = (
        "# hasattr(x, 'a')\nhasattr(x, n)\ngetattr(x, 'a')\ngetattr(x, f'{n}_cost')\n"
        "getattr(x, n, None)\ngetattr(x, n)\n"
    )
    modules = made(a_one=source, a_adopted=source, registry_two=source, errors=source)
    seen = rules.probes(modules)
    assert [place.split(":")[1] for place in seen.values()] == ["2", "3", "4", "5"]
    allowed = {**dict.fromkeys(list(seen)[:3], "why"), "uids/b.py: hasattr(y, 'b')": "why"}
    assert rules.unlisted(seen, allowed) == [
        "uids/a/one.py:5: getattr(x, n, None)",
        "uids/b.py: hasattr(y, 'b') is listed in vain; take it off",
    ]


def test_any_is_seen_outside_doors(made):
    source = (
        "# x: Any\ndef f(a: Any, *b: Any | None, c: Optional[Any] = 1, d: 'Any' = 2): ...\n"
        "class C:\n    e: typing.Any\n    f: list[Any]\n"
        "def g(h: dict[str, Any], i, j: str | Any) -> Any: ...\n"
    )
    seen = rules.untyped(made(a_one=source, a_adopted=source))
    assert [line.split(": ", 1)[1].split(":")[0] for line in seen] == ["a", "b", "c", "d", "e", "j"]


def test_silenced_errors_are_seen(made):
    source = "x = 1  # type: ignore[attr-defined]\n'# type: ignore[misc]'\ny = 1  # type: ignore\n"
    assert list(rules.ignores(made(a_one=source))) == [
        "uids/a/one.py: [attr-defined]",
        "uids/a/one.py: [everything]",
    ]


def test_rooms_without_words_are_seen(made):
    modules = made(a_one="", errors='"""One."""')
    (here,) = (module.path for module in modules.values() if module.name == "uids.a")
    assert rules.without_docstring(modules, ["errors", "a", "b"]) == [
        f"{here}:1: a docstring of 0 lines; 2 are needed",
        "b: there is no such room",
    ]


def test_long_files_and_functions_are_seen(made):
    body = "\n".join(["        x = 1"] * 60)
    source = f"class C:\n    def f(self):\n{body}\n    def g(self):\n{body[:-14]}\n"
    modules = made(a_one=source, a_two="#\n" * 301, a_three="#\n" * 300)
    assert rules.too_long(modules) == {"uids/a/one.py: C.f": 61, "uids/a/two.py": 301}


def test_the_picture_shows_first_sentences_in_order(made):
    modules = made(errors='"""What ``x.y`` is\n| here. And more."""', a_one="")
    assert rules.picture(modules, ["errors", "a"]).splitlines()[2:] == [
        "| 1 | `errors.py` | What `x.y` is \\| here. |",
        "| 2 | `a/` |  |",
    ]


def test_names_that_a_module_defines():
    source = "A: int = 1\nB = 2\ndef f(): ...\nclass C:\n    x: int\n    def m(self): ...\n"
    tree = Module("m", "m.py", source).tree
    assert defined(tree) == {"A", "B", "f", "C", "C.x", "C.m"}
