"""What decides a fit and a run: everything that could change a number, and nothing else."""

import dataclasses
import shutil
import sys
from dataclasses import dataclass, field

import pytest

from uids.models.logreg import LogisticRegression
from uids.pipeline import identity
from uids.pipeline.identity import (
    FIT_ROOMS,
    PACKAGE,
    RUN_ROOMS,
    fit_identity,
    package_digest,
    run_identity,
    run_name,
    source_digest,
)
from uids.pipeline.settings import Settings
from uids.registry import REGISTRIES, Chosen

BASE = {
    "sampler": {"name": "sigmoid", "alpha": 7.0},
    "model": {"name": "logreg", "C": 0.1},
    "ratio": 0.9,
    "split": {"kind": "random", "test": 0.2},
    "cache": True,
}


def test_the_name_of_a_run_is_what_decides_its_numbers():
    name = run_name(BASE)
    assert len(name) == 12
    int(name, 16)
    assert run_name(dict(reversed(BASE.items()))) == name
    for other in (
        {"ratio": 0.8},
        {"sampler": {"name": "sigmoid", "alpha": 6.0}},
        {"sampler": {"name": "random"}},
        {"split": {"kind": "sequential", "test": 0.2}},
        {"split": {"kind": "random", "test": 0.1}},
    ):
        assert run_name(BASE | other) != name


@pytest.mark.parametrize("idle", [{"cache": False}, {"download": False}, {"sweep": {"grids": [1]}}])
def test_a_key_that_changes_no_number_does_not_rename(idle):
    assert run_name(BASE | idle) == run_name(BASE)


def test_what_has_its_default_value_does_not_rename():
    default = Settings()
    said = {
        **BASE,
        "repeats": default.repeats,
        "stratify": None,
        "choose": dataclasses.asdict(default.choose),
        "split": {**dataclasses.asdict(default.split), "test": 0.2},
        "model": {"name": "logreg", "C": 0.1, "fit_intercept": LogisticRegression().fit_intercept},
    }
    assert run_name(said) == run_name(BASE)
    listed = {**said["choose"], "ratios": list(default.choose.ratios)}
    assert run_name(said | {"choose": listed}) == run_name(BASE)
    fewer = {**listed, "ratios": listed["ratios"][1:]}
    assert run_name(said | {"choose": fewer}) != run_name(BASE)


def test_a_new_key_at_its_default_does_not_rename(monkeypatch):
    @dataclass(frozen=True)
    class Corner:
        depth: int = 3

    @dataclass(frozen=True)
    class Newer(Settings):
        novel: float = 2.0
        corner: Corner = field(default_factory=Corner)

    name = run_name(BASE)
    monkeypatch.setattr(identity, "Settings", Newer)
    assert run_name(BASE | {"novel": 2, "corner": {"depth": 3}}) == name
    assert run_name(BASE | {"novel": 3, "corner": {"depth": 3}}) != name
    assert run_name(BASE | {"novel": 2, "corner": {"depth": 4}}) != name


def test_equal_numbers_are_alike_and_others_are_not():
    assert run_name({"ratio": 1}) == run_name({"ratio": 1.0})
    assert run_name({"ratio": 1}) != run_name({"ratio": True})
    assert run_name({"ratio": 1}) != run_name({"ratio": "1"})
    assert run_name({"seed": 2**53}) != run_name({"seed": 2**53 + 1})
    assert run_name({"stratify": 1}) != run_name({"stratify": True})


def test_a_config_that_cannot_be_built_has_a_name():
    names = {run_name({"sampler": {"name": "nobody", "a": a}}) for a in (1, 2)}
    assert len(names) == 2
    assert run_name({"sampler": None}) != run_name({})


def chosen(**names):
    return [REGISTRIES[kind].choose(value) for kind, value in names.items()]


def fit_parts(model="logreg", solver="cg", backend="numpy"):
    return chosen(model=model, solver=solver, backend=backend)


def test_a_fit_is_decided_by_its_three_components():
    first = fit_identity(fit_parts())
    assert fit_identity(fit_parts()) == first
    assert fit_identity(fit_parts(model=LogisticRegression())) == first
    for other in (
        fit_parts(model=LogisticRegression(C=0.2)),
        fit_parts(solver="pcg"),
        fit_parts(backend="auto"),
    ):
        assert fit_identity(other) not in (None, first)


def test_a_fit_of_what_nobody_has_registered_has_no_identity():
    @dataclass(frozen=True)
    class Mine(LogisticRegression):
        pass

    assert fit_identity(fit_parts(model=Mine())) is None


def test_a_run_is_decided_by_its_files():
    parts = chosen(sampler="sigmoid", model="logreg")
    assert run_identity(BASE, parts, None) == run_identity(BASE | {"cache": False}, parts, None)
    files = [["rows.csv", 10, 1]]
    assert run_identity(BASE, parts, files) == run_identity(BASE, parts, [("rows.csv", 10, 1)])
    assert run_identity(BASE, parts, files) != run_identity(BASE, parts, [["rows.csv", 10, 2]])
    assert run_identity(BASE, parts, None) != run_identity(BASE | {"ratio": 0.5}, parts, None)


def test_the_rooms_are_there():
    assert all((PACKAGE / room / "__init__.py").is_file() for room in RUN_ROOMS)
    assert not {"report", "app"} & set(RUN_ROOMS)


@pytest.fixture
def edited(tmp_path):
    """A copy of uids with a line more in one file."""

    def copy(path):
        root = tmp_path / path.replace("/", "-")
        shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__"))
        with open(root / path, "a") as file:
            file.write("# another line\n")
        return root

    return copy


@pytest.mark.parametrize(
    ("path", "fit", "run"),
    [
        ("report/__init__.py", False, False),
        ("app/cli.py", False, False),
        ("__init__.py", False, False),
        ("datasets/split.py", False, True),
        ("pipeline/evaluate.py", False, True),
        ("samplers/sigmoid.py", False, True),
        ("solvers/cg.py", True, True),
        ("models/logistic/newton.py", True, True),
    ],
)
def test_only_the_source_that_computes_decides(edited, path, fit, run):
    root = edited(path)
    assert (source_digest(FIT_ROOMS, root) != source_digest(FIT_ROOMS)) is fit
    assert (source_digest(RUN_ROOMS, root) != source_digest(RUN_ROOMS)) is run


def test_compiled_files_do_not_decide(tmp_path):
    for root in (tmp_path / "one", tmp_path / "two"):
        shutil.copytree(PACKAGE / "system", root / "system")
    cache = tmp_path / "two" / "system" / "__pycache__"
    cache.mkdir(exist_ok=True)
    (cache / "loops.nbi").write_bytes(b"1")
    assert source_digest(["system"], tmp_path / "one") == source_digest(
        ["system"], tmp_path / "two"
    )


CG = "from dataclasses import dataclass\nfrom uids.solvers.cg import CG\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write importable files: files({"acme/__init__.py": "…"})."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def write(texts):
        for path, text in texts.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)

    yield write
    for name in set(sys.modules) - before:
        if name.startswith("acme"):
            del sys.modules[name]


def digest_of(name):
    return package_digest(REGISTRIES["solver"].entry(name))


def test_every_file_of_a_plugins_package_decides(entry_points, files, tmp_path):
    files(
        {
            "acme_solvers/__init__.py": "from acme_solvers.deep._mine import Mine\n",
            "acme_solvers/deep/__init__.py": "",
            "acme_solvers/deep/_mine.py": CG + "class Mine(CG): pass\n",
            "acme_solvers/table.txt": "1 2 3\n",
            "acme_other/__init__.py": "",
        }
    )
    entry_points("solver", "mine", "acme_solvers:Mine")
    entry_points("solver", "same", "acme_solvers.deep._mine:Mine")
    first, fit = digest_of("mine"), fit_identity(fit_parts(solver="mine"))
    assert first
    assert digest_of("same") == first
    assert fit_identity(fit_parts(solver="same")) not in (None, fit)  # another name
    for path in ("acme_solvers/table.txt", "acme_solvers/deep/_mine.py"):
        before = digest_of("mine"), fit_identity(fit_parts(solver="mine"))
        with open(tmp_path / path, "a") as file:
            file.write("# 4\n")
        after = digest_of("mine"), fit_identity(fit_parts(solver="mine"))
        assert before[0] != after[0]
        assert before[1] != after[1]
    (tmp_path / "acme_solvers" / "deep" / "new.py").write_text("")
    assert digest_of("mine") != after[0]
    now = digest_of("mine")
    files({"acme_other/__init__.py": "# not of the package\n", "acme_solvers/.tool/x": "1"})
    files({"acme_solvers/__pycache__/x.txt": "1", "acme_solvers/old.pyc": "1"})
    assert digest_of("mine") == now


def test_a_plugin_of_a_single_file(entry_points, files):
    files({"acme_single.py": CG + "class Mine(CG): pass\n", "acme_beside.py": ""})
    entry_points("solver", "mine", "acme_single:Mine")
    first = digest_of("mine")
    assert first
    files({"acme_beside.py": "# changed\n"})
    assert digest_of("mine") == first
    files({"acme_single.py": CG + "class Mine(CG): pass\n# changed\n"})
    assert digest_of("mine") != first


def test_a_namespace_package_is_not_the_plugins_own(entry_points, files):
    files(
        {
            "acme_space/solvers/__init__.py": CG + "class Mine(CG): pass\n",
            "acme_space/solvers/more.py": "",
            "acme_space/theirs/__init__.py": "",
        }
    )
    entry_points("solver", "mine", "acme_space.solvers:Mine")
    first = digest_of("mine")
    assert first
    files({"acme_space/theirs/__init__.py": "# changed\n"})
    assert digest_of("mine") == first
    files({"acme_space/solvers/more.py": "# changed\n"})
    assert digest_of("mine") != first


def test_links_lead_nowhere(entry_points, files, tmp_path):
    files({"acme_linked/__init__.py": CG + "class Mine(CG): pass\n"})
    (tmp_path / "acme_linked" / "up").symlink_to(tmp_path)
    (tmp_path / "acme_linked" / "gone.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "acme_linked" / "round.py").symlink_to(tmp_path / "acme_linked" / "round.py")
    entry_points("solver", "mine", "acme_linked:Mine")
    assert digest_of("mine")


@pytest.mark.parametrize("target", ["acme_nowhere:C", "acme_nowhere.deep:C", "sys:C"])
def test_what_cannot_be_found_has_no_digest(entry_points, target):
    entry_points("solver", "lost", target)
    assert digest_of("lost") == ""


def test_the_version_of_a_plugin_decides_too(entry_points, files):
    files({"acme_versioned.py": CG + "class Mine(CG): pass\n"})
    entry_points("solver", "mine", "acme_versioned:Mine", version="1")
    (solver,) = chosen(solver="mine")
    newer = Chosen("solver", solver.component, dataclasses.replace(solver.entry, version="2"))
    assert fit_identity([solver]) != fit_identity([newer])
    assert run_identity({}, [solver], None) != run_identity({}, [newer], None)


def test_a_network_of_a_plugin_decides_too(entry_points, files):
    pytest.importorskip("torch")
    from uids.models.torch_module import TorchModule

    source = "from uids.models.torch.networks import MLP\nclass Mine(MLP):\n    pass\n"
    files({"acme_network.py": source})
    entry_points("network", "mine", "acme_network:Mine")
    chosen = [REGISTRIES["model"].choose(TorchModule(network="mine"))]
    before = run_identity(BASE, chosen, None)
    assert run_identity(BASE, chosen, None) == before
    files({"acme_network.py": source + "# edited\n"})
    assert run_identity(BASE, chosen, None) != before
    plain = [REGISTRIES["model"].choose(TorchModule(network=lambda features, outputs: None))]
    assert run_identity(BASE, plain, None) != before
