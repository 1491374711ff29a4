"""Products of several classes in float32 within a fit, which is as exact for all that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from uids.backends import adopt, stack
from uids.backends.numba import Numba
from uids.backends.numpy import Numpy, NumpyMatrix
from uids.models import Rows
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logistic.newton import minimise
from uids.models.logistic.products import centred
from uids.models.logistic.step import Step
from uids.system.tuning import NEWTON

pytestmark = pytest.mark.xdist_group("numba")

N, D, K = 300, 40, 4
TRUNCATED = replace(NEWTON, dense_work=0)  # no step by a factor, which has products of no kind


def some_rows(backend, scale=1.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * scale
    y = (X[:, :K] / np.abs(X[:, :K]).max(axis=0) + rng.gumbel(size=(N, K)) / 3).argmax(axis=1)
    return Rows(adopt(backend, X), y, K)


def curvature_of(rows, intercept=True, weighted=True):
    rng = np.random.default_rng(1)
    theta = rng.standard_normal(K * (D + intercept)) * 0.3 / np.abs(rows.X.fetch()).max()
    weights = rng.random(len(rows)) if weighted else None
    return LogisticCurvature(FittedLogistic(theta, K, 2.0, intercept), rows, weights)


def direction(curvature, size=1.0):
    """As those of a fit, without a mean over the classes."""
    V = np.random.default_rng(2).standard_normal(curvature.size) * size
    return centred(V, curvature.columns)


@pytest.mark.parametrize("backend", [Numpy(), Numba(threads=2)], ids=["numpy", "numba"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_it_has_six_digits_whatever_the_size_of_the_vector(backend, intercept, weighted, size):
    curvature = curvature_of(some_rows(backend), intercept, weighted)
    V = direction(curvature, size)
    exact, rough = curvature.dot(V), curvature.rough_dot(V)
    assert rough.dtype == np.float64
    error = np.abs(rough - exact).max() / np.abs(exact).max()
    assert 0 < error < 2e-6
    assert np.abs(rough.reshape(-1, K).mean(axis=1)).max() < 1e-15 * np.abs(exact).max()
    index = np.arange(0, N, 3)
    part = curvature_of(curvature.over.take(index), intercept, weighted)
    np.testing.assert_allclose(part.rough_dot(V), part.dot(V), atol=2e-6 * np.abs(exact).max())


def test_a_vector_of_zeros_gives_zeros():
    curvature = curvature_of(some_rows(Numpy()))
    np.testing.assert_array_equal(curvature.rough_dot(np.zeros(curvature.size)), 0)


@pytest.mark.filterwarnings("error")
def test_beyond_the_range_of_float32_it_is_exact():
    curvature = curvature_of(some_rows(Numpy(), 1e25))
    V = direction(curvature)
    np.testing.assert_array_equal(curvature.rough_dot(V), curvature.dot(V))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_so_many_columns_that_they_go_by_no_blocks(dtype, monkeypatch):
    monkeypatch.setattr("uids.backends.numpy.SMALL_ENTRIES", 0)  # X stays in its dtype
    X = np.random.default_rng(0).standard_normal((60, 20_000)).astype(dtype)
    rows = Rows(adopt(Numpy(), X), np.arange(60) % K, K)
    theta = np.random.default_rng(1).standard_normal(K * X.shape[1]) * 0.01
    curvature = FittedLogistic(theta, K, 2.0, False).curvature(rows)
    V = direction(curvature)
    exact, rough = curvature.dot(V), curvature.rough_dot(V)
    np.testing.assert_allclose(rough, exact, atol=2e-6 * np.abs(exact).max())


def test_sparse_rows_two_classes_and_two_matrices_in_one_have_exact_products():
    rows = some_rows(Numpy())
    X = rows.X.fetch()
    for matrix, classes in (
        (adopt(Numpy(), sp.csr_matrix(X)), K),
        (rows.X, 2),
        (stack(adopt(Numpy(), X[:9]), adopt(Numpy(), X[9:])), K),
    ):
        theta = np.full((D + 1) * (K if classes > 2 else 1), 0.1)
        fitted = FittedLogistic(theta, classes, 2.0, True)
        curvature = fitted.curvature(Rows(matrix, rows.y % classes, classes))
        V = np.random.default_rng(2).standard_normal(curvature.size)
        assert not curvature.rough
        np.testing.assert_array_equal(curvature.rough_dot(V), curvature.dot(V))


@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("spread", [1.0, 1e3])
def test_a_fit_is_as_exact_with_them_as_without(monkeypatch, C, spread):
    """Of columns of one size, and where float32 has too few digits for the condition."""
    rows = some_rows(Numpy(), np.geomspace(1, spread, D))
    zero = FittedLogistic(np.zeros(K * (D + 1)), K, C, True)
    found = minimise(zero, rows, None, 1e-11, 1000, TRUNCATED)
    assert found.largest <= 1e-9
    monkeypatch.setattr(NumpyMatrix, "rough", False)
    exact = minimise(zero, rows, None, 1e-11, 1000, TRUNCATED)
    assert found.steps <= exact.steps + 3
    np.testing.assert_allclose(found.theta, exact.theta, atol=1e-6 * np.abs(exact.theta).max())


def test_a_fit_that_gets_nowhere_with_them_goes_on_without(monkeypatch):
    """As where all digits of a product are lost."""
    rows = some_rows(Numpy())
    zero = FittedLogistic(np.zeros(K * (D + 1)), K, 1.0, True)
    exact = minimise(zero, rows, None, 1e-11, 1000, TRUNCATED)

    def lost(self, V):
        return 1e12 * self.dot(V)

    monkeypatch.setattr(LogisticCurvature, "rough_dot", lost)
    left, known = [], Step.surely
    monkeypatch.setattr(Step, "surely", lambda self: left.append(known(self)) or left[-1])
    found = minimise(zero, rows, None, 1e-11, 1000, TRUNCATED)
    assert True in left
    assert found.largest <= 1e-11
    np.testing.assert_allclose(found.theta, exact.theta, atol=1e-9)


def test_after_a_step_of_many_products_they_are_exact():
    rows = some_rows(Numpy())
    curvature = curvature_of(rows)
    for most, still in ((0, False), (1000, True)):
        step = Step(1e-6, replace(TRUNCATED, rough_products=most))
        step.solve(curvature, curvature.objective_gradient(), 0.0)
        assert step.last_rough
        assert step.rough == still
