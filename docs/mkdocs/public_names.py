"""For the API reference, which is made from the source as text: nothing of uids is imported.

The public names of ``uids`` are imported on first use; here they are as if its ``__init__`` had
imported them. What the source says of a field is in a comment beside it, or in
``key(default, "what")``: here that is its docstring.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import griffe


class PublicNames(griffe.Extension):
    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        if pkg.path == "uids":
            table = ast.literal_eval(str(pkg["_PUBLIC"].value))
            for name, module in table.items():
                found = pkg[f"{module.removeprefix('uids.')}.{name}"]
                pkg.set_member(name, griffe.Alias(name, unwrapped(found), parent=pkg))

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        if attr.docstring is None and attr.parent is not None and attr.parent.is_class:
            what = told(attr)
            if what:
                attr.docstring = griffe.Docstring(what, parent=attr)


def unwrapped(found: griffe.Object | griffe.Alias) -> str:
    """The path of what is found; of ``run = with_progress(plain_run)``, that of ``plain_run``."""
    value = found.value if found.is_attribute else None
    if isinstance(value, griffe.ExprCall) and len(value.arguments) == 1:
        return value.arguments[0].canonical_path
    return found.path


def told(attribute: griffe.Attribute) -> str:
    """what, of ``name: type = key(default, "what")`` or of ``name: type  # what``."""
    value = attribute.value
    if isinstance(value, griffe.ExprCall) and str(value.function) == "key":
        default, *others = value.arguments
        attribute.value = default
        what = str(others[0]) if others else "''"
        return "" if what.startswith("f") else ast.literal_eval(what)
    comment = re.search(r"  # (.+)$", attribute.source.strip().split("\n")[-1])
    return comment[1] if comment else ""
