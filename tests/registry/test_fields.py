"""Every type that a field may have: from a command, from Python, in JSON, and back again."""

import csv
import json
from dataclasses import dataclass, field
from enum import Enum

import pytest

import uids
from uids.errors import UidsError
from uids.registry import REGISTRIES, plain
from uids.registry.fields import typed

RICH = """
from __future__ import annotations
from dataclasses import dataclass, field
from enum import Enum
import numpy as np

class By(Enum):
    phi = 1
    loss = 2

@dataclass(frozen=True)
class Mix:
    amount: float = 0.3
    by: By = By.phi

@dataclass(frozen=True)
class Rich:
    by: By = By.phi
    most: float | None = None
    steps: list[float] = field(default_factory=lambda: [0.2, 0.8])
    pair: tuple[float, float] = (0.0, 0.5)
    extra: dict[str, float] = field(default_factory=dict)
    mix: Mix = field(default_factory=Mix)
    mixes: list[Mix] = field(default_factory=list)

    def __post_init__(self):
        nested = [self.mix, *self.mixes]
        assert isinstance(self.by, By) and isinstance(self.pair, tuple)
        assert all(isinstance(m, Mix) and isinstance(m.by, By) for m in nested)

    def probabilities(self, scores):
        values = scores.phi if self.by is By.phi else scores.loss
        rank = values.argsort().argsort() / len(values)
        amount = self.mix.amount + sum(m.amount for m in self.mixes) + sum(self.extra.values())
        low, high = self.steps
        return np.clip(low + (high - low) * (1 - rank) * amount, 0, self.most or 1)
"""
GIVEN = {
    "by": "loss",
    "most": 0.9,
    "steps": [0.1, 0.7],
    "pair": [2.0, 0.25],
    "extra": {"a": 0.2},
    "mix": {"amount": 0.4, "by": "loss"},
    "mixes": [{"amount": 0.5, "by": "phi"}],
}
WORDS = (
    *("sampler=rich", "sampler.by=loss", "sampler.most=0.9", "sampler.steps=[0.1,0.7]"),
    *("sampler.pair=[2,0.25]", "+sampler.extra.a=0.2", "sampler.mix.by=loss"),
    "sampler.mixes=[{amount:0.5}]",
)


@pytest.fixture
def rich(entry_points, package, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    package("acme", __init__=RICH)
    entry_points("sampler", "rich", "acme:Rich")


def kept(folder):
    return (folder / "subset.csv").read_text()


def test_from_the_command_and_again_from_what_it_left(rich, cli, tmp_path):
    """As a sweep: its columns, its metrics, and the run again from the config in them."""
    words = (*WORDS, "sampler.mix.amount=0.4,0.6", "repeats=1", "-m", "hydra.sweep.dir=swept")
    code, _, err = cli(*words)
    assert code == 0, err
    lines = list(csv.DictReader((tmp_path / "swept/summary.csv").read_text().splitlines()))
    assert {line["sampler.mix.amount"] for line in lines} == {"0.4", "0.6"}
    assert {line["sampler.by"] for line in lines} == {"loss"}
    for file in (tmp_path / "swept").glob("*/metrics.json"):
        config = json.loads(file.read_text())["config"]
        amount = config["sampler"]["mix"]["amount"]
        mix = {"amount": amount, "by": "loss"}
        assert config["sampler"] == {"name": "rich", **GIVEN, "mix": mix}
        again = uids.run(**config)
        assert kept(file.parent).split()[-again.kept.sum() :] == [
            str(r) for r in again.row[again.kept]
        ]
        assert json.loads(json.dumps(again.metrics["config"])) == config


def test_from_python(rich):
    sampler = REGISTRIES["sampler"].choose({"name": "rich", **GIVEN})
    assert sampler.fields == GIVEN
    assert json.loads(json.dumps(sampler.fields)) == GIVEN
    assert REGISTRIES["sampler"].choose("rich").fields == {
        **{"by": "phi", "most": None, "steps": [0.2, 0.8], "pair": [0.0, 0.5], "extra": {}},
        **{"mix": {"amount": 0.3, "by": "phi"}, "mixes": []},
    }


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"by": "lost"}, r"by must be one of phi, loss \(got 'lost'\)"),
        ({"steps": 0.5}, r"steps must be a list \(got 0\.5\)"),
        ({"steps": [0.1, "b"]}, r"steps\[1\] must be float \(got 'b'\)"),
        ({"pair": [1.0]}, r"pair must be a list of 2 \(got \[1\.0\]\)"),
        ({"extra": [1.0]}, r"extra must be a dict \(got \[1\.0\]\)"),
        ({"extra": {"a": "b"}}, r"extra\.a must be float \(got 'b'\)"),
        ({"mix": 0.3}, r"mix must be a dict of the fields of Mix \(got 0\.3\)"),
        ({"mix": {"amount": "a lot"}}, r"mix\.amount must be float \(got 'a lot'\)"),
        ({"mix": {"amont": 1}}, r"unknown field of 'mix': 'amont'\. Did you mean 'amount'\?"),
        ({"mixes": [{"by": 3}]}, r"mixes\[0\]\.by must be one of phi, loss \(got 3\)"),
        ({"most": "all"}, r"most must be float \(got 'all'\)"),
    ],
)
def test_what_does_not_fit_is_told_by_its_whole_name(rich, fields, wrong):
    with pytest.raises(UidsError, match=f"^sampler 'rich': {wrong}"):
        REGISTRIES["sampler"].build("rich", **fields)


class Kind(Enum):
    FIRST = "first"


@dataclass(frozen=True)
class Nested:
    kind: Kind = Kind.FIRST
    size: int = 1


@dataclass(frozen=True)
class Deep:
    kind: Kind | None = None
    table: dict[str, Nested] = field(default_factory=dict)
    pairs: tuple[Nested, ...] = ()


def test_there_and_back():
    given = {"kind": "FIRST", "table": {"a": {"kind": "FIRST", "size": 2}}, "pairs": [{}, {}]}
    deep = Deep(**typed(Deep, given))
    assert deep == Deep(Kind.FIRST, {"a": Nested(size=2)}, (Nested(), Nested()))
    assert Deep(**typed(Deep, plain(deep))) == deep
    assert typed(Deep, {"kind": "first"}) == {"kind": Kind.FIRST}  # by its value too
    assert typed(Deep, {"kind": None}) == {"kind": None}
    assert typed(Deep, vars(deep)) == vars(deep)  # what is so already
