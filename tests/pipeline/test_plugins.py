"""Components of other packages in whole runs: their names, their cache, their fields."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

import uids
from uids.models.logreg import LogisticRegression
from uids.registry import REGISTRIES

POWER = """
from dataclasses import dataclass
import numpy as np
@dataclass(frozen=True)
class Power:
    alpha: float | str = 1.0
    def probabilities(self, scores):
        return np.full(len(scores.phi), 0.5 ** self.alpha)
"""
SUBCLASS = """
from dataclasses import dataclass
from uids.{module} import {base}
@dataclass(frozen=True)
class Mine({base}):
    pass
"""


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def run(**words):
    return uids.run(repeats=1, **words).metrics


def test_a_sampler_that_its_package_exports_has_its_name(entry_points, package):
    package("acme", __init__="from acme._sampler import Power", _sampler=POWER)
    entry_points("sampler", "power", "acme:Power")
    from acme._sampler import Power

    for sampler in ("power", REGISTRIES["sampler"].build("power", alpha=1.0), Power()):
        assert run(sampler=sampler)["config"]["sampler"] == {"name": "power", "alpha": 1.0}


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        ("model", "models.logreg:LogisticRegression"),
        ("solver", "solvers.cg:CG"),
        ("backend", "backends.numpy:Numpy"),
    ],
)
def test_what_its_package_exports_is_cached(entry_points, package, kind, base):
    module, _, base = base.partition(":")
    source = SUBCLASS.format(module=module, base=base)
    package("acme", __init__="from acme._mine import Mine", _mine=source)
    entry_points(kind, "mine", "acme:Mine")
    from acme import Mine

    runs = [run(**{kind: "mine"}), run(**{kind: "mine"}), run(**{kind: Mine()})]
    assert [metrics["cache"] for metrics in runs] == ["miss", "hit", "hit"]
    assert [metrics["config"][kind]["name"] for metrics in runs] == ["mine"] * 3
    assert run()["cache"] == "miss"  # that of uids itself is another


def test_two_names_of_one_class(entry_points, package):
    package("acme", __init__=POWER)
    for name in ("one", "two"):
        entry_points("sampler", name, "acme:Power")
        for sampler in (name, REGISTRIES["sampler"].build(name)):
            assert run(sampler=sampler)["config"]["sampler"]["name"] == name
    chosen = REGISTRIES["sampler"].build("two", alpha="auto")
    metrics = run(sampler=chosen, choose={"draws": 1, "folds": 2})
    assert metrics["config"]["sampler"]["name"] == "two"
    assert metrics["selection"]["chosen_alpha"] in metrics["selection"]["alpha"]


def test_two_names_of_one_class_in_an_error(entry_points):
    for name in ("one", "two"):
        entry_points("sampler", name, "faulty:FaultySampler")
    faulty = REGISTRIES["sampler"].build("two", alpha="auto", call="probabilities")
    with pytest.raises(uids.UidsError, match="sampler 'two' of package 'acme'"):
        run(sampler=faulty)


@dataclass(frozen=True)
class Coarse:
    """A model whose ``tol`` is its own affair. It can neither be restored nor be planned from."""

    tol: float = 1e-3
    fits: ClassVar[list] = []

    def fit(self, rows, weights=None, start=None):
        self.fits.append((len(rows), self.tol))
        return LogisticRegression().fit(rows, weights, start)


@dataclass(frozen=True)
class Rough(Coarse):
    fits: ClassVar[list] = []

    def rough(self):
        return replace(self, tol=0.1)


@pytest.mark.parametrize("final", ["subset", "subset+validation"])
@pytest.mark.parametrize(("model", "judged"), [(Coarse, 1e-3), (Rough, 0.1)])
def test_only_a_model_that_says_so_is_fitted_roughly(model, judged, final):
    """The full set and the subset are fitted as the model is; whatever is only judged, before and
    between them, roughly; and so is the last, that of the subset and the validation rows, unless it
    is the final model."""
    model.fits.clear()
    metrics = run(model=model(), ratio=0.5, final=final)
    n, m = metrics["dataset"]["rows"]["train"], metrics["dataset"]["rows"]["validation"]
    kept = n // 2
    last = judged if final == "subset" else 1e-3
    assert model.fits[0] == (n, 1e-3)
    assert {tol for _, tol in model.fits[1:-2]} == {judged}
    assert (n + m, judged) in model.fits[1:-2]
    assert (m, judged) in model.fits[1:-2]
    assert model.fits[-2:] == [(kept, 1e-3), (kept + m, last)]
    assert metrics["config"]["model"] == {"name": model.__qualname__, "tol": 1e-3}


def test_a_walk_fits_roughly_what_it_only_judges():
    Rough.fits.clear()
    metrics = run(model=Rough(), sampler="dropout", ratio="auto", split={"test": 0})
    assert len(Rough.fits) > 8  # one a fold, for each ratio that was tried
    exact = [size for size, tol in Rough.fits if tol == 1e-3]
    assert exact == [metrics["dataset"]["rows"]["train"], metrics["subset"]["size"]]


def test_a_model_that_cannot_be_restored_is_not_cached(entry_points, package):
    source = """
from dataclasses import dataclass
from uids.models.logreg import LogisticRegression
@dataclass(frozen=True)
class Plain:
    def fit(self, rows, weights=None, start=None):
        return LogisticRegression().fit(rows, weights, start)
"""
    package("acme", __init__=source)
    entry_points("model", "plain", "acme:Plain")
    assert [run(model="plain")["cache"] for _ in range(2)] == ["off", "off"]
    restored = source + "    restore = LogisticRegression().restore\n"
    package("acme_kept", __init__=restored)
    entry_points("model", "kept", "acme_kept:Plain")
    assert [run(model="kept")["cache"] for _ in range(2)] == ["miss", "hit"]
