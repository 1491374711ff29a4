"""Solving in the space of the rows, against the dense Hessian and scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.sparse as sp
from problems import uneven
from sklearn.linear_model import LogisticRegression as Sklearn

import uids
from uids.backends import adopt
from uids.backends.numba import Numba
from uids.backends.numpy import Numpy
from uids.models import Rows
from uids.models.logistic import newton
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.solvers.auto import Auto
from uids.system.tuning import LOOPS, PRECONDITIONING

pytestmark = pytest.mark.xdist_group("numba")
N, D = 60, 1200


def text(backend=None, seed=0):
    """Rows of words with weights, of which a few are in most rows and most in one or two."""
    rng = np.random.default_rng(seed)
    frequent = rng.random((N, 4)) + 0.5
    X = sp.hstack([frequent, sp.random(N, D - 4, 0.02, rng=rng)], "csr")
    y = (frequent @ [1.0, -1.0, 0.5, -0.5] + rng.logistic(size=N) > 0).astype(np.int64)
    return Rows(adopt(backend or Numpy(), X), y, 2)


def curvature_of(rows, intercept, weighted, C=0.7):
    rng = np.random.default_rng(1)
    theta = rng.standard_normal(D + intercept) * 0.3
    weights = rng.random(len(rows)) * (rng.random(len(rows)) < 0.8) if weighted else None
    return LogisticCurvature(FittedLogistic(theta, 2, C, intercept), rows, weights)


@dataclass(frozen=True)
class ByColumns(Numba):
    """Stores even small data by columns."""

    def matrix(self, X):
        return super().matrix(X, replace(LOOPS, column_entries=1))


@pytest.fixture(params=[Numpy(), ByColumns()], ids=["numpy", "numba"])
def backend(request):
    return request.param


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_solution_by_the_dense_hessian(backend, intercept, weighted):
    curvature = curvature_of(text(backend), intercept, weighted)
    g = np.random.default_rng(2).standard_normal(D + intercept)
    exact = np.linalg.solve(curvature.dense(), g)
    s, y, scores, products = curvature.dual().solve(g, 1e-11 * np.linalg.norm(g), 500)
    np.testing.assert_allclose(s, exact, atol=1e-9 * np.abs(exact).max())
    X = curvature.over.X.fetch()
    np.testing.assert_allclose(
        scores, X @ s[:D] + (s[D] if intercept else 0), atol=1e-9 * np.abs(scores).max()
    )
    assert 3 < products < 500
    again = curvature.dual().solve(g, 1e-11 * np.linalg.norm(g), 500, y)
    assert again.products <= 1
    np.testing.assert_allclose(again.s, exact, atol=1e-9 * np.abs(exact).max())
    found = Auto(tol=1e-11).solve(curvature, g)
    assert "space of the 60 rows" in found.note
    assert found.converged
    assert found.relative_residual <= 1e-11
    np.testing.assert_allclose(found.value, exact, atol=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("goal", [0.3, 1e-2, 1e-4, 1e-7])
def test_the_estimate_of_the_residual_is_no_less_than_the_residual(intercept, goal):
    curvature = curvature_of(text(), intercept, False)
    g = np.random.default_rng(3).standard_normal(D + intercept)
    size = np.linalg.norm(g)
    found = curvature.dual().solve(g, goal * size, 500)
    there = np.linalg.norm(g - curvature.dot(found.s)) / size
    assert there <= goal * (1 + 1e-9)
    assert there >= goal / 1000  # and it does not go on for long


def test_an_estimate_that_is_too_hopeful_is_seen_and_mended(monkeypatch):
    curvature = curvature_of(text(), True, False)
    g = np.random.default_rng(4).standard_normal(D + 1)
    dual = curvature.dual()
    goals, solve = [], dual.solve

    def hopeful(g, goal, limit, start=None):
        goals.append(goal)
        return solve(g, 1e4 * goal, limit, start)

    monkeypatch.setattr(dual, "solve", hopeful)
    monkeypatch.setattr(LogisticCurvature, "dual", lambda self: dual)
    found = Auto(tol=1e-9).solve(curvature, g)
    assert found.converged
    assert len(goals) > 1
    assert found.relative_residual <= 1e-9
    few = Auto(tol=1e-9, max_iter=3).solve(curvature, g)
    assert few.iterations == 3
    assert "raise solver.max_iter" in few.status


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("warm", [False, True])
def test_a_fit_is_scikit_learns_optimum(backend, intercept, weighted, warm):
    rows = text(backend)
    weights = np.random.default_rng(3).random(N) * (np.arange(N) % 5 > 0) if weighted else None
    model = LogisticRegression(C=2.0, fit_intercept=intercept, tol=1e-12)
    start = None
    if warm:
        start = model.restore(np.random.default_rng(1).standard_normal(D + intercept) * 0.1, rows)
    ours = model.fit(rows, weights, start)
    theirs = Sklearn(
        C=2.0, fit_intercept=intercept, solver="newton-cholesky", tol=1e-13, max_iter=200
    ).fit(rows.X.fetch(), rows.y, weights)
    theta = np.append(theirs.coef_[0], theirs.intercept_ if intercept else [])
    np.testing.assert_allclose(ours.theta, theta, atol=1e-8)


def test_a_refit_on_a_part_of_the_rows(backend):
    rows = text(backend)
    index = np.random.default_rng(0).permutation(N)[:48]
    model = LogisticRegression(C=2.0, tol=1e-12)
    full = model.fit(rows)
    found = model.fit(rows.take(index), start=full)
    alone = Rows(adopt(Numpy(), rows.X.fetch()[index]), rows.y[index], 2)
    np.testing.assert_allclose(found.theta, model.fit(alone).theta, atol=1e-9)


UNEVEN = ["row 5", "row 7", "all -8", "all -12", "values 2", "values 3", "columns 4", "columns 5"]


@pytest.mark.filterwarnings("ignore:do not trust")  # the numbers below tell more
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("case", UNEVEN)
def test_data_of_uneven_size_are_fitted_and_solved_for_all_the_same(monkeypatch, case, intercept):
    X, y = uneven(case)
    model = LogisticRegression(fit_intercept=intercept)
    pairs = (X[:100], y[:100]), (X[100:], y[100:])
    found = uids.influence(model, *pairs)
    assert found.solution.converged
    direct = uids.influence(model, *pairs, solver="direct")
    np.testing.assert_allclose(found.phi, direct.phi, atol=1e-6 * np.abs(direct.phi).max())
    best = found.curvature.value.fitted
    monkeypatch.setattr(LogisticCurvature, "dual", lambda self: None)
    primal = model.fit(found.train)
    for fitted in (best, primal):  # both at their optimum, as far as rounding lets them
        assert model._largest(fitted, found.train, None) <= 1e-6 * max(1, np.abs(X.data).max())
    losses = [
        0.5 * fitted.theta[:2000] @ fitted.theta[:2000] + 0.1 * fitted.losses(found.train).sum()
        for fitted in (best, primal)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)


def test_a_step_that_fails_by_every_way_is_the_end(monkeypatch):
    """Where small data are factorised after a step by the dual, that step is not blamed again."""
    ways = iter([None, np.zeros(D), np.zeros(D)])  # by the dual, then twice along no direction
    monkeypatch.setattr(newton.FactorStep, "solve", lambda *given: next(ways))
    at = FittedLogistic(np.zeros(D), 2, 1.0, False)
    found = newton.minimise(at, text(), None, 1e-12, 100)
    assert found.steps == 1
    assert next(ways, "all tried") == "all tried"


def test_it_is_for_wide_text():
    wide = curvature_of(text(), True, False)
    assert wide.dual() is not None
    ones = text()
    ones.X.fetch().data[:] = 1
    assert curvature_of(ones, True, False).dual() is None  # 20 columns for each row
    few = ones.take(np.arange(D // PRECONDITIONING.wide_ones))
    assert curvature_of(few, True, False).dual() is not None
    assert curvature_of(ones.take(np.arange(len(few) + 1)), True, False).dual() is None
    dense = Rows(adopt(Numpy(), text().X.fetch().toarray()), text().y, 2)
    assert curvature_of(dense, True, False).dual() is None
    narrow = Rows(adopt(Numpy(), text().X.fetch()[:, : PRECONDITIONING.wide * N - 1]), text().y, 2)
    at = FittedLogistic(np.zeros(narrow.X.shape[1]), 2, 1.0, False)
    assert at.curvature(narrow).dual() is None


def test_rows_without_curvature_have_none():
    wide = curvature_of(text(), True, False)
    assert LogisticCurvature(wide.fitted, wide.over, np.zeros(N)).dual() is None
