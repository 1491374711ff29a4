"""``uids.plugin``: what other packages import, and the list of what is looked for by name."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import uids
from uids import plugin
from uids.errors import UidsError
from uids.registry import REGISTRIES
from uids.registry.entry import METHOD

PACKAGE = Path(uids.__file__).parent
DOORS = {
    "dataset": "datasets/adopted.py",
    "model": "models/adopted.py",
    "solver": "solvers/adopted.py",
    "sampler": "samplers/adopted.py",
    "backend": "backends/adopted.py",
}
CONTRACT = """
from dataclasses import dataclass
from typing import ClassVar
@dataclass(frozen=True)
class Mine:
    uids_api: ClassVar[int] = {version}
    def probabilities(self, scores): ...
"""


def asked_by_name(path):
    """The names that a door asks a component for: by getattr, hasattr or ask."""
    for node in ast.walk(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = (
                node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            )
            place = {"getattr": 1, "hasattr": 1, "ask": 1, "_asked": 0}.get(called)
            name = None if place is None else node.args[place]
            if isinstance(name, ast.Constant):
                yield name.value


@pytest.mark.parametrize("kind", REGISTRIES)
def test_what_a_door_asks_for_is_in_the_list(kind):
    listed = {hook.name for hook in plugin.HOOKS if hook.kind == kind}
    if kind == "solver":  # whose door is also that of the operators
        listed |= {hook.name for hook in plugin.HOOKS if hook.on == "Curvature"}
    asked = set(asked_by_name(DOORS[kind])) - {"X", "y"}  # of what load() gives
    assert asked - listed == set()


@pytest.mark.parametrize("hook", plugin.HOOKS, ids=lambda hook: f"{hook.on}.{hook.name}")
def test_what_is_listed_is_looked_for(hook):
    on = {"Curvature": plugin.Curvature, "Matrix": plugin.Matrix}.get(hook.on)
    if hook.on == hook.kind and hook.required:
        assert METHOD[hook.kind] == hook.name
        return
    if on is not None and hasattr(on, hook.name):
        assert (hook.name in on.__abstractmethods__) == hook.required
        return
    words = (PACKAGE / DOORS[hook.kind]).read_text(encoding="utf-8")
    words += (PACKAGE / "registry/chosen.py").read_text(encoding="utf-8")
    assert f".{hook.name}" in words or f'"{hook.name}"' in words


def test_every_abstract_member_is_listed():
    for on in ("Curvature", "Fitted"):
        required = {hook.name for hook in plugin.HOOKS if hook.on == on and hook.required}
        cls = getattr(plugin, on)
        members = cls.__abstractmethods__ or {name for name in vars(cls) if name[0] != "_"}
        assert required == set(members)


def test_all_names_are_there_and_are_those_of_the_rooms():
    assert set(plugin.__all__) == {name for name in vars(plugin) if not name.startswith("_")} - {
        "hooks",
        "optional",
    }
    assert plugin.Solution is import_module("uids.solvers").Solution
    assert plugin.Scores is uids.Scores
    assert plugin.Data is uids.Data


def test_it_is_light_and_not_imported_with_uids():
    """Neither the libraries that few components need, nor anything for a run that chooses none."""
    look = "import sys, {0}; print(*sys.modules)"
    loaded = {}
    for module in ("uids", "uids.plugin"):
        command = [sys.executable, "-c", look.format(module)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        loaded[module] = set(done.stdout.split())
    assert "uids.plugin" not in loaded["uids"]
    assert not {"sklearn", "numba", "torch", "hydra", "pyarrow"} & loaded["uids.plugin"]


def test_types_are_told_to_others():
    assert (PACKAGE / "py.typed").is_file()


def test_a_contract_that_is_not_known_is_refused(entry_points, package):
    package("acme", __init__=CONTRACT.format(version=plugin.API + 1))
    entry_points("sampler", "mine", "acme:Mine")
    with pytest.raises(UidsError) as error:
        REGISTRIES["sampler"].build("mine")
    assert str(error.value) == (
        f"sampler 'mine' of package 'acme' 1.2 is written for version {plugin.API + 1} of uids' "
        f"contract (uids_api), and uids {uids.__version__} keeps to 1: install versions of both "
        "that agree"
    )


def test_a_contract_that_is_known_is_taken(entry_points, package):
    package("acme", __init__=CONTRACT.format(version=plugin.API))
    entry_points("sampler", "mine", "acme:Mine")
    assert REGISTRIES["sampler"].choose("mine").fields == {}
