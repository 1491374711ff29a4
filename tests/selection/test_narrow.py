"""The same walk in fewer columns."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_rows

from uids.backends.numba import Numba
from uids.models.adopted import adopt_model
from uids.models.logreg import LogisticRegression
from uids.pipeline.settings import make_settings
from uids.samplers.adopted import adopt_sampler
from uids.scoring.influence import influence_at
from uids.selection import narrow as module
from uids.selection.choose import choose
from uids.selection.narrow import narrow
from uids.solvers.adopted import adopt_solver

MODEL = adopt_model(LogisticRegression(C=0.5))


def problem(sparse, classes, n=60, d=400, backend=None):
    rows = make_rows(n=n, d=d, classes=classes, sparse=sparse)
    if backend is not None:
        rows = replace(rows, X=backend.matrix(rows.X.fetch()))
    train, validation = rows.take(np.arange(n - 20)), rows.take(np.arange(n - 20, n))
    full = MODEL.fit(train)
    return full, influence_at(full.curvature(train), train, validation, adopt_solver("direct"))


@pytest.mark.parametrize("backend", [None, Numba(threads=2)], ids=["numpy", "numba"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_fits_and_losses_are_those_of_all_columns(sparse, classes, backend):
    full, found = problem(sparse, classes, backend=backend)
    fewer, there = narrow(MODEL, full, found)
    assert there.train.X.shape[1] <= 60 < found.train.X.shape[1]
    for before, after in ((found.train, there.train), (found.validation, there.validation)):
        np.testing.assert_allclose(
            fewer.probabilities(after), full.probabilities(before), rtol=1e-6, atol=1e-8
        )
    # Influence too: φ of one is φ of the other.
    again = influence_at(there.curvature, there.train, there.validation, adopt_solver("direct"))
    np.testing.assert_allclose(again.phi, found.phi, rtol=1e-6, atol=1e-7 * np.ptp(found.phi))


def test_the_choice_is_that_of_all_columns(monkeypatch):
    full, found = problem(True, 2)
    settings = make_settings(auto=True, choose={"folds": 3, "ratios": [0.9, 0.7]})
    model = adopt_model(LogisticRegression(C="auto"))
    sampler = adopt_sampler("auto")
    short = choose(model, sampler, settings, full, found, 0)
    monkeypatch.setattr(module, "MOST_ROWS", 0)
    long = choose(model, sampler, settings, full, found, 0)
    assert short.pick.candidate == long.pick.candidate
    assert [each.candidate for each in short.judged] == [each.candidate for each in long.judged]
    means = [[each.mean for each in one.judged] for one in (short, long)]
    np.testing.assert_allclose(*means, rtol=1e-4)  # fits that are only judged are rough


def test_what_is_not_wide_stays_as_it_is():
    full, found = problem(False, 2, d=30)
    assert narrow(MODEL, full, found) == (full, found)
