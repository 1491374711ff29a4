"""Every built-in component is what its kind asks for, and so is what comes out of it: mypy, strict
as for the package itself, reads a file in which each is handed on as its type.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from uids.registry import REGISTRIES

pytestmark = [
    pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed"),
    pytest.mark.xdist_group("typing"),  # one run of mypy, so one worker
]

ROOT = Path(__file__).resolve().parent.parent

# What a component of each kind is, "module:Type".
KINDS = {
    "dataset": "uids.datasets.data:DataSet",
    "model": "uids.models:Model",
    "solver": "uids.solvers:Solver",
    "sampler": "uids.samplers.sampler:Sampler",
    "backend": "uids.backends:Backend",
}

# What the components hand out: the types that the rest of uids knows it by, and its classes.
BEHIND = {
    "uids.models:Fitted": [
        "uids.models.logistic.fitted:FittedLogistic",
        "uids.models.torch.fitted:FittedTorch",
        "uids.models.adopted:AdoptedFitted",
    ],
    "uids.models:Curvature": [
        "uids.models.logistic.curvature:LogisticCurvature",
        "uids.models.torch.curvature:TorchCurvature",
        "uids.models.adopted:AdoptedCurvature",
    ],
    "uids.models:Objective": [
        "uids.models.logistic.curvature:LogisticCurvature",
        "uids.models.torch.curvature:TorchCurvature",
        "uids.models.adopted:AdoptedObjective",
    ],
    "uids.models:RowForms": [
        "uids.models.logistic.leverage:LogisticForms",
        "uids.models.blamed_forms:BlamedForms",
    ],
    "uids.solvers:Operator": [
        "uids.models.logistic.curvature:LogisticCurvature",
        "uids.models.torch.curvature:TorchCurvature",
        "uids.solvers.adopted:AdoptedOperator",
    ],
    "uids.solvers:Dual": [
        "uids.models.logistic.dual:LogisticDual",
        "uids.models.logistic.dual:SoftmaxDual",
    ],
    "uids.backends:Matrix": [
        "uids.backends.numpy:NumpyMatrix",
        "uids.backends.loops.sparse:SparseMatrix",
        "uids.backends.loops.dense:DenseMatrix",
        "uids.backends.torch:TorchMatrix",
        "uids.backends.stacked:Stacked",
        "uids.backends.adopted:AdoptedMatrix",
        "uids.backends.guarded:GuardedMatrix",
    ],
    "uids.models.torch.scores:ScoreFunction": [
        "uids.models.torch.scores:LinearScores",
        "uids.models.torch.scores:ModuleScores",
    ],
}


@dataclass(frozen=True)
class Claim:
    """That an object of one class can stand where one of a type is asked for."""

    cls: str  # "module:Class"
    type: str

    def __str__(self) -> str:
        return f"{self.cls.partition(':')[2]} is a {self.type.replace(':', '.')}"


def components() -> list[Claim]:
    claims = []
    for kind, registry in REGISTRIES.items():
        targets = (v if isinstance(v, str) else v[0] for v in registry.builtins.values())
        claims += [Claim(target, KINDS[kind]) for target in targets]
    return claims


RIGHT = [*components(), *(Claim(cls, kind) for kind, classes in BEHIND.items() for cls in classes)]
# Nothing at all, to be refused by every type: one that is ``Any`` in disguise would let it pass.
WRONG = [Claim("builtins:object", kind) for kind in sorted({claim.type for claim in RIGHT})]


def source(claims: list[Claim]) -> list[str]:
    """The lines of a file that makes the claims, the last line of the imports being blank; the
    function of claim i stands on one line, so that an error on it is about that claim."""
    modules = {name.partition(":")[0] for claim in claims for name in (claim.cls, claim.type)}
    lines = [f"import {module}" for module in sorted(modules)] + [""]
    for i, claim in enumerate(claims):
        cls, kind = (name.replace(":", ".") for name in (claim.cls, claim.type))
        lines.append(f"def claim_{i}(given: {cls}) -> {kind}: return given")
    return lines


def check(claims: list[Claim], folder: Path) -> dict[Claim, list[str]]:
    """What mypy says against each claim, with the config of the project."""
    lines = source(claims)
    file = folder / "claims.py"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["--config-file", "pyproject.toml", "--hide-error-context", "--no-pretty", str(file)]
    # From the root: that is where mypy then finds uids, and its cache of the last check.
    command = [sys.executable, "-m", "mypy", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    against: dict[Claim, list[str]] = {claim: [] for claim in claims}
    first = lines.index("") + 2
    for number, wrong in re.findall(r"claims\.py:(\d+): (.*)", done.stdout):
        assert int(number) >= first, wrong  # an import that failed
        against[claims[int(number) - first]].append(wrong)
    return against


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Of all claims at once: mypy starts but once."""
    return check([*RIGHT, *WRONG], tmp_path_factory.mktemp("typing"))


@pytest.mark.parametrize("claim", RIGHT, ids=str)
def test_what_comes_in_and_goes_out_is_of_its_type(said, claim):
    assert not said[claim], "\n".join(said[claim])


@pytest.mark.parametrize("claim", WRONG, ids=lambda claim: claim.type)
def test_each_type_asks_for_something(said, claim):
    assert any("Incompatible return value type" in wrong for wrong in said[claim]), said[claim]


def test_another_kind_of_component_is_refused(tmp_path):
    wrong = Claim("uids.solvers.cg:CG", "uids.models:Model")
    assert "Incompatible return value type" in check([wrong], tmp_path)[wrong][0]


def test_every_kind_has_a_type():
    assert set(KINDS) == set(REGISTRIES)
