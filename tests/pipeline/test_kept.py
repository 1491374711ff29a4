"""Data and fit that stay in memory from one run to the next: the same numbers, within a bound."""

import numpy as np
import pytest

from uids.pipeline.components import components
from uids.pipeline.kept import Kept
from uids.pipeline.run import run_components
from uids.pipeline.settings import make_settings
from uids.registry import REGISTRIES

NAMES = {"dataset": "wine", "model": "logreg", "solver": "auto", "backend": "numpy"}


def run(kept, sampler="sigmoid", C=1.0, **keys):
    given = {**NAMES, "sampler": sampler, "model": {"name": "logreg", "C": C}}
    chosen = {kind: REGISTRIES[kind].choose(value) for kind, value in given.items()}
    return run_components(components(chosen), make_settings(repeats=2, **keys), kept=kept)


@pytest.fixture
def loads(monkeypatch):
    """How often the data set is read."""
    cls, read = REGISTRIES["dataset"].load("wine"), []
    real = cls.load
    monkeypatch.setattr(cls, "load", lambda self: read.append(1) or real(self))
    return read


def test_points_have_the_numbers_of_runs_by_themselves(loads):
    kept, count = Kept(), 0
    for C in (1.0, 10.0):
        for seed in (0, 1):
            for sampler in ("sigmoid", "optimal", "random"):
                given = {"sampler": sampler, "C": C, "split": {"seed": 3}, "noise": 0.1}
                together = run(kept, seed=seed, **given)
                count = len(loads)
                alone = run(None, seed=seed, **given, cache=False)
                del loads[count:]
                for name in ("full", "subset", "influence", "final", "noise", "conclusion"):
                    assert together.metrics[name] == alone.metrics[name], (name, given, seed)
                assert np.array_equal(together.influence, alone.influence)
                assert np.array_equal(together.kept, alone.kept)
    assert count == 1


def test_other_rows_are_read(loads):
    kept = Kept()
    for keys in ({}, {}, {"noise": 0.1}, {"split": {"test": 0.4}}, {"split": {"seed": 5}}, {}):
        run(kept, **keys)
    assert len(loads) == 5
    run(kept, cache=False)
    run(kept, cache=False)
    assert len(loads) == 7


def test_rows_beyond_the_bound_are_not_kept(loads, monkeypatch):
    monkeypatch.setattr("uids.pipeline.kept.memory", lambda: 1000)
    kept = Kept()
    first, second = run(kept), run(kept)
    assert len(loads) == 2
    assert first.metrics["subset"] == second.metrics["subset"]
