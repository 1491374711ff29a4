"""The rules of the house, read off the source of a package; nothing of it is imported.

Each rule is a function from the modules to the places that break it, "path:line: what is wrong", so
that it can be tried on made-up source too.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence

from source_tree import Modules, docstring, functions, target

FILE_LINES = 300  # beyond which a file wants to be two
FUNCTION_LINES = 60  # from def to the last line, with the docstring


def cycles(modules: Modules) -> list[str]:
    """Modules that import each other, at whatever depth and inside functions too."""
    graph = {
        name: {
            into
            for imported in module.imports
            if not imported.typing and (into := target(imported.name, modules)) not in (None, name)
        }
        for name, module in modules.items()
    }
    reach = {name: _reachable(graph, name) for name in graph}
    rings = {
        tuple(sorted(other for other in reach[name] if name in reach[other]))
        for name in graph
        if name in reach[name]
    }
    return [f"{' and '.join(ring)} import each other" for ring in sorted(rings)]


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(graph[name])
    return reached


def out_of_order(modules: Modules, rooms: Sequence[str]) -> list[str]:
    """Imports from a later room, for types too; and public names of the package itself, behind
    which any room may be."""
    wrong = []
    for module in modules.values():
        if module.room not in ("", "__main__", *rooms):
            wrong.append(module.at(1, f"{module.room} is no room"))
            continue
        for imported in module.imports:
            into = target(imported.name, modules)
            if into is None:
                continue
            room = modules[into].room
            if room == "" and imported.name != f"{into}.__version__":
                wrong.append(module.at(imported.line, f"imports {imported.name} by the front door"))
            elif _place(room, rooms) > _place(module.room, rooms):
                here = module.room or "the package itself"
                wrong.append(module.at(imported.line, f"{here} imports {imported.name}"))
    return wrong


def _place(room: str, rooms: Sequence[str]) -> int:
    """The package itself comes before all rooms, and ``__main__`` after them."""
    return [*("", *rooms), "__main__"].index(room)


def imported_outside(modules: Modules, packages: Sequence[str], rooms: Sequence[str]) -> list[str]:
    """Imports of these packages in other rooms than these."""
    return [
        module.at(imported.line, f"imports {imported.name}")
        for module in modules.values()
        for imported in module.imports
        if imported.name.split(".")[0] in packages and module.room not in rooms
    ]


def named_outside(modules: Modules, names: Sequence[str], rooms: Sequence[str]) -> list[str]:
    """Uses of these plain names, called or handed on, in other rooms than these."""
    return [
        module.at(node.lineno, node.id)
        for module in modules.values()
        for node in module.nodes
        if isinstance(node, ast.Name) and node.id in names and module.room not in rooms
    ]


def reached_through(
    modules: Modules, attributes: Sequence[str], names: Sequence[str], rooms: Sequence[str]
) -> list[str]:
    """These attributes of any object, and these names however they are imported, in other rooms
    than these."""
    wrong = []
    for module in modules.values():
        if module.room in rooms:
            continue
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and node.attr in (*attributes, *names):
                wrong.append(module.at(node.lineno, ast.unparse(node)))
            elif isinstance(node, ast.Name) and node.id in names:
                wrong.append(module.at(node.lineno, node.id))
            elif isinstance(node, ast.alias) and node.name in names:
                wrong.append(module.at(node.lineno, f"import {node.name}"))
    return wrong


def probes(modules: Modules) -> dict[str, str]:
    """Questions what an object can do, outside the doors: "path: expression" ↦ where it stands.

    ``getattr`` is one if its name is written out, even in part, or if it has a default; with the
    name in a variable and no default it only reads a field.
    """
    places = {}
    for module in modules.values():
        if module.is_door:
            continue
        for node in module.nodes:
            if isinstance(node, ast.Call) and _is_probe(node):
                asked = ast.unparse(node)
                places[f"{module.path}: {asked}"] = module.at(node.lineno, asked)
    return places


def _is_probe(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name) or call.func.id not in ("hasattr", "getattr"):
        return False
    written = len(call.args) > 1 and isinstance(call.args[1], ast.Constant | ast.JoinedStr)
    return call.func.id == "hasattr" or written or len(call.args) > 2


def untyped(modules: Modules) -> list[str]:
    """Parameters, fields and module variables annotated with ``Any``, perhaps with None, outside
    the doors."""
    wrong = []
    for module in modules.values():
        if module.is_door:
            continue
        for node in module.nodes:
            if isinstance(node, ast.arg | ast.AnnAssign) and _is_any(node.annotation):
                name = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
                wrong.append(module.at(node.lineno, f"{name}: {ast.unparse(node.annotation)}"))
    return wrong


def _is_any(annotation: ast.expr | None) -> bool:
    """Also as one of several: whatever else may come, mypy then lets everything pass."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):  # in quotes
        return _is_any(ast.parse(annotation.value, mode="eval").body)
    if isinstance(annotation, ast.BinOp):
        return _is_any(annotation.left) or _is_any(annotation.right)
    if isinstance(annotation, ast.Subscript) and "Optional" in ast.unparse(annotation.value):
        return _is_any(annotation.slice)
    return annotation is not None and ast.unparse(annotation) in ("Any", "typing.Any")


def ignores(modules: Modules) -> dict[str, str]:
    """Comments that silence mypy: "path: [code]" ↦ where they stand."""
    places = {}
    for module in modules.values():
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
            silenced = re.search(r"#\s*type:\s*ignore(\[.*?\])?", token.string)
            if token.type == tokenize.COMMENT and silenced:
                code = silenced[1] or "[everything]"
                places[f"{module.path}: {code}"] = module.at(token.start[0], silenced[0])
    return places


def without_docstring(modules: Modules, rooms: Sequence[str]) -> list[str]:
    """Rooms whose ``__init__`` says too little: what lives there and what it may not know takes
    two lines. A room that is a file says what it is in one."""
    wrong = []
    for room in rooms:
        module = next((m for m in modules.values() if m.name.split(".")[1:] == [room]), None)
        if module is None:
            wrong.append(f"{room}: there is no such room")
            continue
        lines = [line for line in docstring(module).splitlines() if line.strip()]
        needed = 2 if module.path.endswith("/__init__.py") else 1
        if len(lines) < needed:
            wrong.append(module.at(1, f"a docstring of {len(lines)} lines; {needed} are needed"))
    return wrong


def too_long(modules: Modules) -> dict[str, int]:
    """Lines by "path" of each file, and by "path: Class.function" of each function, where they
    are too many."""
    long = {}
    for module in modules.values():
        lines = len(module.text.splitlines())
        if lines > FILE_LINES:
            long[module.path] = lines
        for name, node in functions(module.tree):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                long[f"{module.path}: {name}"] = lines
    return long


def picture(modules: Modules, rooms: Sequence[str]) -> str:
    """The rooms in order as a table: each name, and the first sentence of its docstring."""
    lines = ["| | room | what lives there |", "|---|---|---|"]
    for number, room in enumerate(rooms, 1):
        module = next(m for m in modules.values() if m.name.split(".")[1:] == [room])
        name = f"{room}/" if module.path.endswith("/__init__.py") else f"{room}.py"
        words = " ".join(docstring(module).split()).replace("``", "`").replace("|", "\\|")
        sentence = re.split(r"(?<=\.)\s", words, maxsplit=1)[0]
        lines.append(f"| {number} | `{name}` | {sentence} |")
    return "\n".join(lines)


def unlisted(places: dict[str, str], allowed: dict[str, str]) -> list[str]:
    """What is there but not allowed, and what is allowed but no longer there."""
    new = [place for key, place in places.items() if key not in allowed]
    return new + [f"{key} is listed in vain; take it off" for key in allowed if key not in places]
