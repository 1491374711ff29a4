"""The source of a package as a tree: its modules, what they import, what they define. Nothing is
imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Import:
    line: int
    name: str  # dotted, as far as it is written: of "from a import b" it is a.b
    typing: bool  # under "if TYPE_CHECKING:"


@dataclass(frozen=True)
class Module:
    name: str  # "uids.solvers.cg"
    path: str  # "uids/solvers/cg.py"
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Those that stand on a line, in the order of their lines."""
        placed = [node for node in ast.walk(self.tree) if hasattr(node, "lineno")]
        return sorted(placed, key=lambda node: node.lineno)

    @property
    def room(self) -> str:
        """The folder or file right under the package; "" for the package itself."""
        return [*self.name.split("."), ""][1]

    @property
    def is_door(self) -> bool:
        return self.path.endswith("/adopted.py") or self.room in ("errors", "registry")

    @cached_property
    def imports(self) -> list[Import]:
        return list(self._imports(self.tree, False))

    def _imports(self, node: ast.AST, typing: bool) -> Iterator[Import]:
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.body:
                yield from self._imports(child, True)
            for child in node.orelse:
                yield from self._imports(child, typing)
            return
        for name in self._imported(node):
            yield Import(node.lineno, name, typing)
        for child in ast.iter_child_nodes(node):
            yield from self._imports(child, typing)

    def _imported(self, node: ast.AST) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            parts = [*self._above(node.level), *(node.module or "").split(".")]
            start = ".".join(part for part in parts if part)
            return [f"{start}.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            return [a.value for a in node.args[:1] if isinstance(a, ast.Constant)]
        return []

    def _above(self, level: int) -> list[str]:
        """The package that so many dots mean in this file."""
        if level == 0:
            return []
        parts = self.name.split(".")
        up = level - 1 if self.path.endswith("/__init__.py") else level
        return parts[: len(parts) - up]

    def at(self, line: int, wrong: str) -> str:
        return f"{self.path}:{line}: {wrong}"


Modules = dict[str, Module]


def read(package: Path) -> Modules:
    """Every module of a package by its dotted name."""
    modules = {}
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package.parent)
        parts = path.with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        modules[name] = Module(name, path.as_posix(), file.read_text(encoding="utf-8"))
    return modules


def target(name: str, modules: Modules) -> str | None:
    """The module of the package that is imported by this name: a.b.c may be c of the module a.b."""
    parts = name.split(".")
    known = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((start for start in known if start in modules), None)


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def docstring(module: Module) -> str:
    return ast.get_docstring(module.tree) or ""


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(node: ast.AST, within: str = "") -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        name = within
        if isinstance(child, Function | ast.ClassDef):
            name = f"{within}.{child.name}".lstrip(".")
        if isinstance(child, Function):
            yield name, child
        yield from functions(child, name)


def defined(tree: ast.AST, within: str = "") -> set[str]:
    """Names that a module defines, and "Class.name" for what its classes do."""
    names = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function | ast.ClassDef):
            names.add(within + node.name)
        if isinstance(node, ast.ClassDef):
            names |= defined(node, f"{node.name}.")
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        names |= {within + t.id for t in targets if isinstance(t, ast.Name)}
    return names
