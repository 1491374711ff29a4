"""Fixtures that many tests share."""

from __future__ import annotations

import pkgutil
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import settings
from problems import make_rows
from tallied import TALLY, Tallies

import uids
from uids.models.logreg import LogisticRegression

MANY = 500  # tests: more than anybody runs while working on one of them

# The same examples every time: a test passes always or never. And no test asserts a time.
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.load_profile("fixed")


def pytest_addoption(parser):
    parser.addoption("--tally", metavar="FILE", help="write what was tried, counted, to this file")


def pytest_configure(config):
    file = config.getoption("--tally")
    if file and not hasattr(config, "workerinput"):  # the reports of all workers come here
        config.pluginmanager.register(Tallies(Path(file)))


def pytest_collection_finish(session):
    """Imports all of uids before the first of many tests: hypothesis also tries constants of the
    modules that are imported, and its examples must not depend on which worker has run what."""
    if len(session.items) > MANY:
        for module in pkgutil.walk_packages(uids.__path__, "uids."):
            if module.name != "uids.__main__":
                with suppress(ImportError):  # an extra that is not installed
                    import_module(module.name)


@pytest.fixture(params=[(2, True), (2, False), (3, True), (3, False)], ids=str)
def fitted(request):
    """(rows, the model fitted to them), binary and three classes, with and without intercept."""
    classes, intercept = request.param
    train = make_rows(classes=classes)
    return train, LogisticRegression(C=0.5, fit_intercept=intercept, tol=1e-12).fit(train)


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Run the command in this process, in an empty folder: (exit code, stdout, stderr)."""
    from hydra.core.global_hydra import GlobalHydra

    from uids.app.cli import main

    monkeypatch.chdir(tmp_path)
    # On a busy machine a short run takes long, and would say so.
    monkeypatch.setattr("uids.app.progress.INTERVAL", 3600.0)

    def call(*arguments: str):
        GlobalHydra.instance().clear()
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return (code, *capsys.readouterr())

    yield call
    if "joblib.externals.loky" in sys.modules:
        # Its workers stay for the next sweep of this process, with the environment of this one.
        sys.modules["joblib.externals.loky"].get_reusable_executor().shutdown(wait=True)


@pytest.fixture
def entry_points(monkeypatch):
    """Put made-up entry points beside the built-ins: entry_points(kind, name, target, package)."""
    from types import SimpleNamespace

    import uids.registry.entry

    real, made = uids.registry.entry.installed, []

    def add(kind, name, target, package="acme", version="1.2"):
        dist = SimpleNamespace(name=package, version=version)
        made.append((f"uids.{kind}s", SimpleNamespace(name=name, value=target, dist=dist)))

    monkeypatch.setattr(
        uids.registry.entry,
        "installed",
        lambda group: (*real(group), *(point for g, point in made if g == group)),
    )
    return add


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write an importable package: package("name", module="its source", __init__="…")."""
    import sys

    monkeypatch.syspath_prepend(tmp_path)
    written = []

    def write(name, **modules):
        written.append(name)
        (tmp_path / name).mkdir()
        for module, source in {"__init__": "", **modules}.items():
            (tmp_path / name / f"{module}.py").write_text(source)

    yield write
    for module in list(sys.modules):
        if module.partition(".")[0] in written:
            del sys.modules[module]


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """Parsed data sets go to a folder of this session, not to the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def tally(request):
    """Counts what a test has tried, for docs/reliability.md: tally(kind, outcome, how many)."""

    def count(kind: str, outcome: str, number: int = 1) -> None:
        request.node.user_properties.append((TALLY, [kind, outcome, number]))

    return count


@pytest.fixture(scope="session")
def root():
    return Path(__file__).resolve().parent.parent
