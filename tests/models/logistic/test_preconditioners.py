"""The preconditioners that the model itself knows, against the dense Hessian."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from uids.backends import adopt
from uids.backends.numpy import Numpy, NumpyMatrix
from uids.models import Rows
from uids.models.logistic.advice import one_hot, tall
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logistic.head import spread
from uids.models.logistic.products import add
from uids.models.logistic.row_sample import row_sample_preconditioner
from uids.solvers.auto import Auto
from uids.solvers.conjugate import conjugate_gradients
from uids.solvers.pcg import PCG
from uids.system.tuning import HEAD, PRECONDITIONING

D = PRECONDITIONING.sample_fewest
RUNS = HEAD.runs


def problem(intercept: bool, seed: int = 0) -> LogisticCurvature:
    """Columns of very different size, and most rows almost certain."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((PRECONDITIONING.sample_tall * D, D)) @ rng.standard_normal((D, D))
    X *= np.geomspace(1, 0.01, D)
    theta = rng.standard_normal(D + intercept) * 0.3
    rows = Rows(adopt(Numpy(), X), rng.integers(0, 2, len(X)), 2)
    return FittedLogistic(theta, 2, 0.1, intercept).curvature(rows)


@pytest.mark.parametrize("intercept", [False, True])
def test_it_takes_few_iterations_and_the_answer_is_that_of_the_dense_hessian(intercept):
    curvature = problem(intercept)
    assert tall(curvature.over.X, PRECONDITIONING)
    g = np.random.default_rng(1).standard_normal(curvature.size)
    exact = np.linalg.solve(curvature.dense(), g)
    found = Auto().solve(curvature, g)
    assert found.converged
    assert "own preconditioner" in found.note
    np.testing.assert_allclose(found.value, exact, atol=1e-7 * np.abs(exact).max())
    plain = conjugate_gradients(curvature, g, tol=1e-10, max_iter=5000)
    assert found.iterations < plain.iterations / 3


def test_several_right_hand_sides_are_those_one_by_one():
    precondition = problem(True).preconditioner()
    R = np.random.default_rng(2).standard_normal((D + 1, 3))
    together = precondition(R)
    for j in range(3):
        alone = precondition(R[:, j])
        np.testing.assert_allclose(together[:, j], alone, atol=1e-4 * np.abs(alone).max())


def test_rows_without_curvature_give_none():
    curvature = problem(False)
    weightless = LogisticCurvature(curvature.fitted, curvature.over, np.zeros(curvature.rows))
    assert row_sample_preconditioner(weightless) is None


@pytest.mark.parametrize("intercept", [False, True])
def test_columns_of_little_curvature_are_left_to_the_ridge(intercept):
    whole = problem(intercept)
    X = whole.over.X.fetch().copy()
    X[:, ::2] *= 1e-5
    rows = Rows(adopt(Numpy(), X), whole.over.y, 2)
    curvature = whole.fitted.curvature(rows)
    r = np.random.default_rng(4).standard_normal(curvature.size)
    solved = row_sample_preconditioner(curvature)(r)
    np.testing.assert_array_equal(solved[:D:2], r[:D:2])
    assert (solved[1::2] != r[1::2]).all()
    g = np.random.default_rng(1).standard_normal(curvature.size)
    exact = np.linalg.solve(curvature.dense(), g)
    found = Auto().solve(curvature, g)
    assert "own preconditioner" in found.note
    np.testing.assert_allclose(found.value, exact, atol=1e-7 * np.abs(exact).max())
    assert found.iterations <= Auto().solve(whole, g).iterations
    light = whole.fitted.curvature(Rows(adopt(Numpy(), X * 1e-7), whole.over.y, 2))
    np.testing.assert_array_equal(row_sample_preconditioner(light)(r)[:D], r[:D])


@pytest.mark.parametrize(("tall", "taken"), [(12, 3), (24.5, 3.5), (50, 4)])
def test_taller_data_have_a_few_more_rows_for_each_column(tall, taken):
    seen = []

    class Spy(NumpyMatrix):
        def rows(self, index):
            seen.append(len(index))
            return super().rows(index)

    rng = np.random.default_rng(0)
    X = rng.standard_normal((int(tall * D), D))
    rows = Rows(Spy(X), rng.integers(0, 2, len(X)), 2)
    row_sample_preconditioner(FittedLogistic(np.zeros(D), 2, 0.1, False).curvature(rows))
    assert seen == [pytest.approx(taken * D, abs=1)]


def test_too_few_rows_do_not_suit():
    curvature = problem(False)
    few = curvature.fitted.curvature(curvature.over.take(np.arange(D)))
    assert not tall(few.over.X, PRECONDITIONING)
    assert few.preconditioner() is None


@pytest.mark.parametrize(("ones", "entries"), [(True, 0), (True, 10**9), (False, 0)])
def test_a_long_tail_has_the_preconditioner_of_the_trainer(ones, entries):
    rng = np.random.default_rng(0)
    X = sp.random(3000, 400, 0.02, format="csr", random_state=rng)
    if ones:
        X.data[:] = 1
    rows = Rows(adopt(Numpy(), X), rng.integers(0, 2, 3000), 2)
    fitted = FittedLogistic(rng.standard_normal(401), 2, 10.0, True)
    tuning = replace(PRECONDITIONING, head_entries=entries)
    curvature = LogisticCurvature(fitted, rows, tuning=tuning)
    assert one_hot(rows.X) == ones
    g = rng.standard_normal((401, 2))
    found = Auto().solve(curvature, g)
    assert "own preconditioner" in found.note
    np.testing.assert_allclose(found.value, np.linalg.solve(curvature.dense(), g), rtol=1e-6)
    if ones and entries == 0:  # the head has all columns and all rows: H itself
        assert found.iterations <= 3
    else:
        assert 10 < found.iterations <= 1.2 * PCG().solve(curvature, g).iterations


def test_the_rows_of_the_head_lie_in_runs_all_over_the_matrix():
    np.testing.assert_array_equal(spread(100, 100, RUNS), np.arange(100))
    found = spread(1_000_003, 20_000, RUNS)
    assert 20_000 <= len(found) <= 20_000 + RUNS
    assert (np.diff(found) > 0).all()
    assert found[-1] < 1_000_003
    assert (np.diff(found) > 1).sum() == RUNS - 1
    assert len(spread(1_000, 999, RUNS)) <= 1_000


def test_one_column_is_the_vector():
    curvature = problem(True)
    v = np.random.default_rng(3).standard_normal(curvature.size)
    np.testing.assert_array_equal(curvature.dot(v[:, None])[:, 0], curvature.dot(v))


@pytest.mark.parametrize("target", [np.ones((3, 2), order="F"), np.ones((3, 2), np.float32)])
def test_what_a_backend_hands_back_is_added_to_in_any_layout(target):
    add(np.arange(6.0).reshape(3, 2), target, 2.0)
    np.testing.assert_array_equal(target, 1 + 2 * np.arange(6.0).reshape(3, 2))


def test_a_gradient_in_float32_is_solved_for():
    curvature = problem(False)
    g = np.random.default_rng(3).standard_normal(curvature.size).astype(np.float32)
    found = conjugate_gradients(curvature, g, tol=1e-8, max_iter=2000)
    assert found.converged
    expected = np.linalg.solve(curvature.dense(), g.astype(np.float64))
    np.testing.assert_allclose(found.value, expected, atol=1e-5 * np.abs(expected).max())
