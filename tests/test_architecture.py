"""The house: its rooms, what may stand where, and the picture of it in CONTRIBUTING.md.

``python tests/test_architecture.py`` makes the picture anew. The rules themselves are in
``architecture.py``; ``test_architecture_rules.py`` tries each on made-up source.
"""

from __future__ import annotations

import re
from pathlib import Path

import architecture as rules
import pytest
from source_tree import defined, read

ROOT = Path(__file__).resolve().parent.parent

# In the order of the data's way; each may import only from those before it.
ROOMS = (
    "errors",
    "registry",
    "system",
    "datasets",
    "backends",
    "solvers",
    "models",
    "scoring",
    "samplers",
    "plugin",
    "selection",
    "pipeline",
    "estimators",
    "report",
    "testing",
    "app",
)

# Where ``hasattr`` or ``getattr`` stands outside a door, and why that is not about a component.
PROBES = {
    "uids/backends/loops/layout.py: hasattr(mmap, 'MADV_DONTNEED')": "not on every system",
    "uids/system/files.py: hasattr(value, 'item')": "numbers of numpy and torch, unimported",
    "uids/system/threads.py: hasattr(os, 'register_at_fork')": "not on every system",
}

# Where mypy is silenced, and whose fault it is. Never for a protocol that is missing.
IGNORES = {
    "uids/app/hydra_source.py: [attr-defined]": "no public way to ask whether frozen",
    "uids/app/sweep/launch.py: [arg-type]": "hydra's own annotation is too narrow",
    "uids/backends/loops/threaded.py: [misc]": "mypy cannot type a lambda that has a default",
    "uids/models/torch/linear_lbfgs.py: [no-untyped-call, unused-ignore]": "no types, or no torch",
    "uids/pipeline/estimator.py: [misc]": "scikit-learn's base classes are not annotated",
}

# Files beyond 300 lines and functions beyond 60, and why. Meant to shrink: what is no longer too
# long must go.
LONG: dict[str, str] = {}

# Parameters, fields and variables that are ``Any`` outside the doors: no more than this. Lower it
# whenever you can; what is left is for arrow columns, numba's tuples, and what others may hand in.
ANY = 112

PICTURE = re.compile(r"(?<=<!-- rooms -->\n).*?(?=\n<!-- /rooms -->)", re.DOTALL)


@pytest.fixture(scope="module")
def house():
    return read(ROOT / "uids")


def listed(wrong):
    return "".join(f"\n  {line}" for line in wrong)


def test_no_module_imports_itself_by_way_of_others(house):
    wrong = rules.cycles(house)
    assert not wrong, listed(wrong)


def test_rooms_import_only_from_those_before_them(house):
    wrong = rules.out_of_order(house, ROOMS)
    assert not wrong, listed(wrong)


def test_only_the_app_knows_hydra(house):
    wrong = rules.imported_outside(house, ["hydra", "omegaconf"], ["app"])
    assert not wrong, listed(wrong)


def test_only_the_app_speaks_to_the_terminal(house):
    wrong = rules.imported_outside(house, ["tqdm"], ["app"])
    wrong += rules.named_outside(house, ["print"], ["app"])
    assert not wrong, listed(wrong)


def test_only_doors_ask_what_an_object_can_do(house):
    wrong = rules.unlisted(rules.probes(house), PROBES)
    assert not wrong, listed(wrong)


def test_no_room_reaches_through_a_matrix(house):
    sparse = ["issparse", "isspmatrix", "isspmatrix_csr"]
    inside = ["source", "host", "blocks"]
    wrong = rules.reached_through(house, inside, sparse, ["backends", "datasets"])
    assert not wrong, listed(wrong)


def test_behind_the_doors_things_are_typed(house):
    places = rules.untyped(house)
    assert len(places) <= ANY, listed([f"{len(places)} times Any, at most {ANY}:", *places])


def test_mypy_is_silenced_only_for_the_faults_of_others(house):
    wrong = rules.unlisted(rules.ignores(house), IGNORES)
    assert not wrong, listed(wrong)


def test_each_room_says_what_lives_there_and_what_it_may_not_know(house):
    wrong = rules.without_docstring(house, ROOMS)
    assert not wrong, listed(wrong)


def test_what_is_long_is_so_for_a_reason(house):
    long = {key: f"{key} has {lines} lines" for key, lines in rules.too_long(house).items()}
    wrong = rules.unlisted(long, LONG)
    assert not wrong, listed(wrong)


def test_contributing_shows_the_rooms_as_they_are(house):
    shown = PICTURE.search((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert shown, "CONTRIBUTING.md has no place for the rooms"
    assert shown[0] == rules.picture(house, ROOMS), "run: python tests/test_architecture.py"


def test_contributing_names_files_that_are_there_and_what_they_define(house):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:uids|tests|docs|conf|plugins)/[\w/.-]*)`", text)
    assert len(paths) > 10
    missing = [path for path in paths if not (ROOT / path).exists()]
    by_path = {module.path: module for module in house.values()}
    rows = re.findall(r"^\|.*\| `(uids/[\w/]+\.py)` \| (.*) \|$", text, re.MULTILINE)
    assert len(rows) >= 10
    for path, names in rows:
        known = defined(by_path[path].tree) if path in by_path else set()
        unknown = set(re.findall(r"`([\w.]+)`", names)) - known
        missing += [f"{path}: {name}" for name in sorted(unknown)]
    assert not missing, listed(missing)


if __name__ == "__main__":
    file = ROOT / "CONTRIBUTING.md"
    rooms = rules.picture(read(ROOT / "uids"), ROOMS)
    file.write_text(PICTURE.sub(lambda _: rooms, file.read_text(encoding="utf-8")), "utf-8")
