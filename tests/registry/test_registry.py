"""Registries with made-up entry points: nothing is installed."""

import json
import sys
import warnings
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from uids.app.commands import plugin_row
from uids.errors import UidsError, UidsWarning
from uids.registry import REGISTRIES, Registry, plugins
from uids.registry.entry import Entry, installed

SAMPLERS = REGISTRIES["sampler"]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write an importable module: module("name", "source")."""
    monkeypatch.syspath_prepend(tmp_path)
    written = []

    def write(name, source):
        (tmp_path / f"{name}.py").write_text(source)
        written.append(name)

    yield write
    for name in written:
        sys.modules.pop(name, None)


PLUGIN = """
from dataclasses import dataclass
import numpy as np
@dataclass(frozen=True)
class Half:
    share: float = 0.5
    def __post_init__(self):
        if self.share > 1:
            raise ValueError(f"share must be at most 1 (got {self.share})")
    def probabilities(self, scores):
        return np.full(len(scores.phi), self.share)
"""


def test_every_builtin_loads():
    for registry in REGISTRIES.values():
        for entry in registry.entries():
            if entry.package == "uids" and (find_spec("torch") or entry.extra != "torch"):
                entry.load()


def test_listing_imports_nothing(entry_points, module):
    module("acme_explodes", "raise RuntimeError('imported')")
    entry_points("sampler", "explosive", "acme_explodes:Nothing")
    assert "explosive" in SAMPLERS.names()
    assert "acme_explodes" not in sys.modules


def test_a_plugin_is_built_by_name(entry_points, module):
    module("acme_half", PLUGIN)
    entry_points("sampler", "half", "acme_half:Half")
    assert SAMPLERS.build("half", share=0.25).share == 0.25
    assert [(entry.name, entry.package) for entry in plugins() if entry.package == "acme"] == [
        ("half", "acme")
    ]


def test_a_bad_value_is_told_with_the_component(entry_points, module):
    module("acme_half", PLUGIN)
    entry_points("sampler", "half", "acme_half:Half")
    with pytest.raises(UidsError, match=r"sampler 'half': share must be at most 1 \(got 2\)"):
        SAMPLERS.build("half", share=2)


def test_what_a_component_raises_when_it_is_made_is_its_own_failure(entry_points, module):
    module("acme_half", PLUGIN.replace("raise ValueError(", "raise RuntimeError("))
    entry_points("sampler", "half", "acme_half:Half")
    with pytest.raises(UidsError, match=r"'half' of package 'acme' 1\.2 failed: RuntimeError"):
        SAMPLERS.build("half", share=2)


def test_unknown_names_get_a_suggestion_and_the_list():
    with pytest.raises(UidsError) as error:
        SAMPLERS.load("sigmod")
    assert str(error.value).startswith("unknown sampler 'sigmod'. Did you mean 'sigmoid'? Known: ")
    assert "random" in str(error.value)
    with pytest.raises(UidsError, match=r"unknown field of sampler 'sigmoid': 'alfa'.*'alpha'"):
        SAMPLERS.build("sigmoid", alfa=1)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('no\\nGPU')", "RuntimeError: no GPU"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named"),
        ("x = (", "SyntaxError"),
        ("", "AttributeError"),
        ("class C: pass", "must be a dataclass"),
        ("C = 3", "must be a dataclass"),
        (
            "from dataclasses import dataclass\n@dataclass\nclass C:\n    pass",
            "no method 'probabilities'",
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass C:\n    name: str = ''\n"
            "    def probabilities(self, scores): ...",
            "has a field 'name'",
        ),
    ],
)
def test_a_broken_plugin_is_one_line_with_its_package(entry_points, module, source, reason):
    module("acme_broken", source)
    entry_points("sampler", "broken", "acme_broken:C")
    with pytest.raises(UidsError) as error:
        SAMPLERS.load("broken")
    assert "sampler 'broken' of package 'acme' 1.2" in str(error.value)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)
    SAMPLERS.build("sigmoid")  # the others go on


def test_two_packages_with_one_name(entry_points, module):
    module("acme_half", PLUGIN)
    entry_points("sampler", "half", "acme_half:Half", package="acme")
    entry_points("sampler", "half", "acme_half:Half", package="zenith")
    with pytest.raises(UidsError, match="'half' is claimed by the packages 'acme' and 'zenith'"):
        SAMPLERS.load("half")
    SAMPLERS.load("sigmoid")


def test_a_plugin_cannot_take_a_name_of_ours(entry_points, module):
    """Whoever has it installed goes on as before, and is told once a choice is made."""
    module("acme_half", PLUGIN)
    entry_points("sampler", "sigmoid", "acme_half:Half")
    with pytest.warns(UidsWarning) as told:
        built = SAMPLERS.build("sigmoid", alpha=2.0)
    assert type(built).__module__ == "uids.samplers.sigmoid"
    assert [str(warning.message) for warning in told] == [
        "sampler 'sigmoid' of package 'acme' 1.2 is not used: uids itself has a sampler of that "
        "name, and is; the package can be uninstalled, or give it another"
    ]
    assert "acme_half" not in sys.modules
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SAMPLERS.build("random")  # nobody else's


def test_a_missing_extra_says_how_to_install_it(module):
    module("needs_torch", "import a_torch_that_is_not_here")
    registry = Registry("model", {"torch_logreg": ("needs_torch:Model", "torch")})
    with pytest.raises(UidsError) as error:
        registry.load("torch_logreg")
    assert str(error.value) == (
        "model 'torch_logreg' needs a_torch_that_is_not_here: pip install uids[torch]"
    )


def test_the_command_lists_what_works_and_what_does_not(cli, entry_points, module):
    module("acme_half", PLUGIN)
    module("acme_broken", "raise RuntimeError('no GPU')")
    entry_points("sampler", "half", "acme_half:Half")
    entry_points("backend", "broken", "acme_broken:C", package="other", version="3")
    module("acme_model", PLUGIN.replace("probabilities(self, scores)", "fit(self, rows)"))
    entry_points("model", "logreg", "acme_model:Half", package="rival")
    code, out, _ = cli("plugins", "--json")
    assert code == 0
    found = {(row["group"], row["name"], row["package"]): row for row in json.loads(out)}
    assert found["sampler", "half", "acme"]["status"] == "ok"
    assert found["sampler", "half", "acme"]["version"] == "1.2"
    broken = found["backend", "broken", "other"]
    assert broken["status"] == "broken"
    assert "RuntimeError: no GPU" in broken["reason"]
    assert found["model", "logreg", "uids"]["status"] == "ok"
    assert found["model", "logreg", "rival"]["status"] == "broken"
    assert "is not used: uids itself has" in found["model", "logreg", "rival"]["reason"]
    code, out, _ = cli("plugins")
    assert code == 0
    assert "no GPU" in out


@pytest.mark.parametrize(("extra", "status"), [("torch", "not installed"), (None, "broken")])
def test_what_lacks_an_extra_of_uids_is_not_broken(extra, status):
    row = plugin_row(Entry("sampler", "far", "acme_nowhere:Far", "uids", "0.1", extra))
    assert row["status"] == status
    assert extra is None or row["reason"].endswith("needs acme_nowhere: pip install uids[torch]")


UNCONFIGURABLE = """
from dataclasses import dataclass
print("hello from a plugin")
@dataclass(frozen=True)
class Odd:
    uids_api = 1
    data: complex = 1j
    def probabilities(self, scores): ...
"""


def test_the_command_says_what_cannot_be_configured_and_what_is_misspelt(
    cli, entry_points, module, monkeypatch
):
    module("acme_odd", UNCONFIGURABLE)
    entry_points("sampler", "odd", "acme_odd:Odd")
    dist = SimpleNamespace(name="typo", version="0.3")
    stray = SimpleNamespace(group="uids.sampler", name="lost", value="typo:Lost", dist=dist)
    package = SimpleNamespace(entry_points=[stray])
    monkeypatch.setattr("uids.registry.entry.distributions", lambda: [package])
    code, out, err = cli("plugins", "--json")
    assert code == 0
    found = {(row["group"], row["name"]): row for row in json.loads(out)}
    assert "hello from a plugin" in err
    odd = found["sampler", "odd"]
    assert (odd["status"], odd["api"]) == ("broken", "1")
    assert odd["reason"].startswith(
        "sampler 'odd' of package 'acme' 1.2 has a field that a config cannot hold: "
    )
    lost = found["uids.sampler", "lost"]
    assert (lost["package"], lost["version"], lost["status"]) == ("typo", "0.3", "broken")
    assert lost["reason"].startswith(
        "unknown group of entry points 'uids.sampler'. Did you mean 'uids.samplers'? Known: "
    )
    ours = [row for row in found.values() if row["package"] == "uids"]
    assert {row["status"] for row in ours if "torch" not in row["name"]} == {"ok"}


def test_entry_points_are_read_from_the_real_groups():
    assert all(point.group == "uids.samplers" for point in installed("uids.samplers"))
