"""The wheel in another environment and folder, and real plugin packages beside it.

The environment borrows this one's third-party packages by a path file, so that nothing is
downloaded; uids itself and the plugins are installed into it by pip.
"""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("packaging")  # one environment, so one worker


def call(*words, cwd, code=0):
    # What is on the path of this process must not be on that of the other.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, root]
    call(*build, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("environment")
    call(sys.executable, "-m", "venv", folder, cwd=folder)
    python = folder / "bin" / "python"
    site, _ = call(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder
    )
    (Path(site.strip()) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    call(python, "-m", "pip", "install", "--no-deps", "--no-index", wheel, cwd=folder)
    return python


def plugin(folder, name, source, line):
    """A plugin package with one module and one entry-point line."""
    folder.mkdir()
    (folder / f"{name}.py").write_text(source)
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "{name}"\nversion = "0.7"\n'
        f'[project.entry-points."uids.samplers"]\n{line}\n'
        f'[tool.hatch.build.targets.wheel]\npackages = ["{name}.py"]\n'
    )
    return folder


def test_the_wheel_holds_the_package_and_its_configs(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "uids/py.typed" in names
    assert "uids/conf/config.yaml" in names
    assert "uids/conf/experiment/noise.yaml" in names
    assert "uids/report/templates/run.html" in names
    assert "uids/report/templates/vega.js.gz" in names
    assert "uids/app/plugins/templates/pyproject.toml.j2" in names
    assert not [name for name in names if name.startswith(("tests", "conf", "plugins"))]


def test_the_wheel_runs_elsewhere(python, tmp_path):
    where, _ = call(python, "-c", "import uids; print(uids.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(python.parent.parent)
    words = ["model=logreg", "sampler=sigmoid", "sampler.alpha=5", "repeats=1", "-m"]
    out, _ = call(python, "-m", "uids", *words, cwd=tmp_path)
    assert "1 of 1 runs done" in out
    out, _ = call(python.parent / "uids", "repeats=1", cwd=tmp_path)
    assert "kept 269 of 284" in out


def test_real_plugins_work_and_broken_ones_hurt_nobody(python, tmp_path):
    good = plugin(
        tmp_path / "good",
        "acme_power",
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Power:\n"
        "    gamma: float = 2.0\n"
        "    def probabilities(self, scores):\n"
        "        low, high = scores.phi.min(), scores.phi.max()\n"
        "        return ((high - scores.phi) / (high - low)) ** self.gamma\n",
        'acme_power = "acme_power:Power"',
    )
    bad = plugin(
        tmp_path / "bad",
        "acme_bad",
        "import a_module_that_nobody_has\n",
        'acme_bad = "acme_bad:Bad"',
    )
    install = [python, "-m", "pip", "install", "--no-deps", "--no-index", "--no-build-isolation"]
    call(*install, "-e", good, "-e", bad, cwd=tmp_path)

    out, _ = call(python, "-m", "uids", "--help", cwd=tmp_path)
    line = next(line for line in out.splitlines() if line.startswith("sampler: "))
    assert {"acme_bad", "acme_power", "sigmoid"} <= set(line.removeprefix("sampler: ").split(", "))
    listed, _ = call(python, "-m", "uids", "plugins", "--json", cwd=tmp_path)
    found = {row["name"]: row for row in json.loads(listed)}
    assert found["acme_power"] == {
        "group": "sampler",
        "name": "acme_power",
        "package": "acme_power",
        "version": "0.7",
        "api": "1",
        "status": "ok",
        "reason": "",
    }
    assert found["acme_bad"]["status"] == "broken"
    assert "acme_bad" in found["acme_bad"]["reason"]

    out, _ = call(python, "-m", "uids", "sampler=acme_power", "repeats=1", cwd=tmp_path)
    assert "kept 269 of 284" in out
    words = ["sampler=acme_power,random", "sampler.gamma=1,3", "repeats=1", "-m"]
    out, _ = call(python, "-m", "uids", *words, cwd=tmp_path)
    assert "3 of 3 runs done" in out
    _, err = call(python, "-m", "uids", "sampler=acme_bad", cwd=tmp_path, code=1)
    assert err == (
        "uids: sampler 'acme_bad' of package 'acme_bad' 0.7 cannot be imported: "
        "ModuleNotFoundError: No module named 'a_module_that_nobody_has'\n"
    )
    _, err = call(
        python, "-m", "uids", "sampler.gamma=x", "sampler=acme_power", cwd=tmp_path, code=1
    )
    assert err == "uids: sampler.gamma: Value 'x' of type 'str' could not be converted to Float\n"


KINDS = {
    "sampler": "power",
    "backend": "scipy",
    "solver": "residuals",
    "model": "least_squares",
    "dataset": "rings",
}


def test_a_new_package_of_every_kind_passes_as_it_is_written(python, tmp_path, root):
    """Written, linted, typed, installed, tested, checked, and all five in one run."""
    for kind, name in KINDS.items():
        call(python, "-m", "uids", "plugins", "new", name, "--kind", kind, cwd=tmp_path)
    packages = sorted(tmp_path.iterdir())
    assert len(packages) == 5
    for command in (["check"], ["format", "--check"]):
        call(sys.executable, "-m", "ruff", *command, *packages, cwd=tmp_path)
    sources = [next(package.glob("uids_*")) for package in packages]
    # From the root, with its config, which is strict too: its cache knows uids already.
    call(sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *sources, cwd=root)
    install = [python, "-m", "pip", "install", "--no-deps", "--no-index", "--no-build-isolation"]
    call(*install, *(f"-e{package}" for package in packages), cwd=tmp_path)

    tests = [package / "tests" for package in packages]
    pytest_words = ["-q", "-W", "error", "--import-mode=importlib", "-p", "no:cacheprovider"]
    words = [*pytest_words, "--uids-plugin", "uids-sampler-power", *tests]
    out, _ = call(python, "-m", "pytest", *words, cwd=tmp_path)
    assert " passed" in out
    out, _ = call(python, "-m", "uids", "plugins", "check", "rings", cwd=tmp_path)
    assert out.startswith("dataset 'rings' of package 'uids-dataset-rings' 0.1.0\n")
    words = [f"{kind}={name}" for kind, name in KINDS.items()]
    out, _ = call(python, "-m", "uids", *words, "repeats=1", cwd=tmp_path)
    assert "kept 190 of 200" in out
