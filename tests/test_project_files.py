"""The files for other tools: they can be read, and agree with pyproject.toml and the Makefile."""

import re
import sys

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import uids

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.fixture(scope="module")
def project(root):
    return (root / "pyproject.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def requirements(root):
    """What each pyproject.toml asks for by itself, with every extra."""
    found = []
    for file in (root / "pyproject.toml", *root.glob("plugins/*/pyproject.toml")):
        declared = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        for words in declared["dependencies"], *declared.get("optional-dependencies", {}).values():
            found += map(Requirement, words)
    return [each for each in found if each.name != "uids"]  # which a plugin may need, and is here


def read(file):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def test_the_workflow_tests_every_python_that_is_promised(root, project):
    (job,) = read(root / ".github" / "workflows" / "test.yml")["jobs"].values()
    versions = job["strategy"]["matrix"]["python"]
    assert all(isinstance(version, str) for version in versions)  # 3.10 unquoted is 3.1
    numbers = [tuple(map(int, version.split("."))) for version in versions]
    lowest = re.search(r'requires-python = ">=(\d+)\.(\d+)"', project)
    assert numbers[0] == tuple(map(int, lowest.groups()))
    assert numbers == [(3, numbers[0][1] + i) for i in range(len(numbers))]
    assert numbers[-1] >= (3, 13)
    assert job["steps"][-1]["run"] == "make test PYTHON=python TORCH_BUILD="


def test_the_workflow_of_versions_is_the_makefile_on_the_same_pythons(root):
    (job,) = read(root / ".github" / "workflows" / "versions.yml")["jobs"].values()
    (tested,) = read(root / ".github" / "workflows" / "test.yml")["jobs"].values()
    matrix = job["strategy"]["matrix"]
    assert matrix["python"] == tested["strategy"]["matrix"]["python"]
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    assert f"VERSIONS := {' '.join(matrix['python'])}\n" in makefile
    assert f"for resolution in {' '.join(matrix['resolution'])};" in makefile
    assert job["steps"][-1]["run"].startswith("make versions-of PYTHON=python RESOLUTION=")


def test_every_dependency_says_from_which_version_on(requirements):
    """Else the lowest version is one of years ago, which nothing was written for."""
    for each in requirements:
        assert ">=" in {part.operator for part in each.specifier}, str(each)


def test_what_the_tests_run_against_is_pinned_on_every_python(root, requirements):
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    (job,) = read(root / ".github" / "workflows" / "test.yml")["jobs"].values()
    for python in job["strategy"]["matrix"]["python"]:
        here = {"python_version": python, "python_full_version": f"{python}.9"}
        pinned = {
            canonicalize_name(pin.name): next(iter(pin.specifier)).version
            for pin in pins
            if pin.marker is None or pin.marker.evaluate(here)
        }
        for each in requirements:
            if each.marker is None or each.marker.evaluate(here):
                name = canonicalize_name(each.name)
                assert name in pinned, f"{name} on Python {python}: make constraints adds it"
                assert each.specifier.contains(pinned[name]), (python, str(each), pinned[name])


def test_hooks_call_the_tools_of_the_project_itself(root):
    (repo,) = read(root / ".pre-commit-config.yaml")["repos"]
    assert repo["repo"] == "local"
    hooks = {hook["id"]: hook for hook in repo["hooks"]}
    assert set(hooks) == {"ruff-check", "ruff-format", "mypy"}
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    for hook in hooks.values():
        assert hook["language"] == "system"
        tool = re.match(r"\.venv/bin/(\w+( check| format)?)", hook["entry"])[1]
        assert f"$(BIN)/{tool}" in makefile
        assert f"\n{tool.split()[0]}==" in (root / "constraints.txt").read_text(encoding="utf-8")


def test_the_citation_is_of_this_version_and_licence(root, project):
    citation = read(root / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation)
    assert citation["version"] == uids.__version__
    assert f'license = "{citation["license"]}"' in project
    (paper,) = citation["references"]
    assert paper["doi"] == "10.1609/aaai.v34i04.6103"
    assert [author["family-names"] for author in paper["authors"]] == [
        *("Wang", "Zhu", "Dong", "He", "Huang"),
    ]


def test_the_page_on_reliability_has_the_counts_of_every_promise(root):
    import reliability

    text = (root / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?) \| .* \| ([\d,]+) \| all: .* \|$", text, re.MULTILINE)
    assert [kind for kind, _ in rows] == list(reliability.PROMISES)
    counts = {kind: int(count.replace(",", "")) for kind, count in rows}
    assert all(counts.values())
    assert counts["hostile config folders"] >= 80
    assert counts["malformed sparse matrices"] >= 100
