"""Steps by the factor of a dense H, and by that of an earlier step."""

from dataclasses import replace

import numpy as np
import pytest

from uids.backends import adopt
from uids.models import Rows
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.factor import FactorStep
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logistic.newton import minimise
from uids.system.tuning import NEWTON

EACH_ANEW = replace(NEWTON, factor_fewest=10**9)


def problem(classes=2, n=450, d=400):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d))
    Z = X @ rng.standard_normal((d, classes)) / np.sqrt(d) + rng.gumbel(size=(n, classes))
    columns = 1 if classes == 2 else classes
    at = FittedLogistic(np.zeros((d + 1) * columns), classes, 1.0, True)
    return at, Rows(adopt("numpy", X), Z.argmax(axis=1), classes)


@pytest.fixture
def made(monkeypatch):
    """How many dense H are made."""
    seen, dense = [], LogisticCurvature.dense

    def counted(self):
        seen.append(self.size)
        return dense(self)

    monkeypatch.setattr(LogisticCurvature, "dense", counted)
    return seen


@pytest.mark.parametrize("classes", [2, 3])
def test_one_factor_serves_further_steps_to_the_same_minimum(made, classes):
    at, rows = problem(classes, d=400 if classes == 2 else 150)
    found = minimise(at, rows, None, 1e-10, 100)
    once = len(made)
    right = minimise(at, rows, None, 1e-10, 100, EACH_ANEW)
    assert once < len(made) - once
    assert len(made) - once == right.steps
    np.testing.assert_allclose(found.theta, right.theta, atol=1e-7)
    assert found.largest <= 1e-10


def test_a_factor_that_serves_badly_is_made_anew(made):
    """That of rows which another model is sure of."""
    at, rows = problem()
    step, far = FactorStep(), replace(at, theta=np.full(401, 3.0))
    for fitted in (far, at):
        curvature = LogisticCurvature(fitted, rows)
        s = step.solve(curvature, curvature.objective_gradient(), 0.0)
    assert len(made) == 2
    right = np.linalg.solve(curvature.dense(), -curvature.objective_gradient())
    np.testing.assert_allclose(s, right, rtol=1e-8)


def test_large_problems_are_not_for_it():
    at, rows = problem()
    curvature = LogisticCurvature(at, rows)
    step = FactorStep(replace(NEWTON, dense_work=1e7))
    assert step.solve(curvature, curvature.objective_gradient(), 0.0) is None
