"""Accuracy and AUC as means over rows."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

from uids.selection.measures import auc_values, row_values
from uids.system.statistics import standard_error


def scores(n=300, seed=0, shift=1.0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(np.int64)
    z = np.round(rng.standard_normal(n) + shift * y, 1)  # with ties
    return z, y


def test_the_mean_is_the_measure():
    z, y = scores()
    P = np.stack([1 - z, z], axis=1)
    assert 1 - row_values(P, y, "auc").mean() == pytest.approx(roc_auc_score(y, z))
    assert 1 - row_values(P, y, "accuracy").mean() == accuracy_score(y, P.argmax(axis=1))
    rng = np.random.default_rng(1)
    P, y = rng.dirichlet(np.ones(4), 200), rng.integers(0, 4, 200)
    macro = roc_auc_score(y, P, multi_class="ovr")
    assert 1 - row_values(P, y, "auc").mean() == pytest.approx(macro)


def test_the_standard_error_is_that_of_many_samples():
    areas = [
        auc_values(*(v == 1 if v.dtype == int else v for v in scores(seed=s))) for s in range(400)
    ]
    spread = np.std([values.mean() for values in areas])
    told = np.mean([standard_error(values) for values in areas])
    assert told == pytest.approx(spread, rel=0.1)


def test_rows_of_one_class_have_no_order():
    assert (auc_values(np.arange(5.0), np.ones(5, dtype=bool)) == 1).all()
