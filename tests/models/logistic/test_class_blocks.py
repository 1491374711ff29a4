"""The preconditioner of softmax, a block for each class, against the dense Hessian."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from uids.backends import adopt
from uids.backends.numba import Numba
from uids.backends.numpy import Numpy
from uids.models import Rows
from uids.models.logistic.advice import samples_classes
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.solvers.auto import Auto
from uids.solvers.conjugate import conjugate_gradients
from uids.system.tuning import PRECONDITIONING

pytestmark = pytest.mark.xdist_group("numba")

D, K = 40, 5
FEW = replace(PRECONDITIONING, sample_parameters=100)  # so that a small problem has the blocks


def problem(intercept: bool) -> LogisticCurvature:
    """Columns that go together and are of different size, and rows that are mostly certain."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((PRECONDITIONING.sample_tall * D, D)) @ rng.standard_normal((D, D))
    X *= np.geomspace(1, 0.03, D)
    theta = rng.standard_normal((D + intercept, K)) * 0.3
    rows = Rows(adopt(Numpy(), X), rng.integers(0, K, len(X)), K)
    fitted = FittedLogistic(theta.ravel(), K, 10.0, intercept)
    return replace(fitted.curvature(rows), tuning=FEW)


@pytest.mark.parametrize("intercept", [False, True])
def test_few_iterations_and_the_answer_of_the_dense_hessian(intercept):
    """For any right-hand side: a gradient has no mean over the classes, others may have one."""
    curvature = problem(intercept)
    g = np.random.default_rng(1).standard_normal(curvature.size)
    found = Auto().solve(curvature, g)
    assert found.converged
    assert "a block for each class" in found.note
    exact = np.linalg.solve(curvature.dense(), g)
    np.testing.assert_allclose(found.value, exact, atol=1e-6 * np.abs(exact).max())
    plain = conjugate_gradients(curvature, g, tol=1e-10, max_iter=5000)
    assert found.iterations < plain.iterations / 3


def test_along_the_mean_over_classes_it_is_exact():
    curvature = problem(True)
    mean = np.repeat(np.random.default_rng(2).standard_normal((D + 1, 1)), K, axis=1).ravel()
    back = curvature.preconditioner()(curvature.scale * curvature.dot(mean))
    np.testing.assert_allclose(back, mean, rtol=1e-9)


def test_where_it_is_made():
    def asked(X, columns=K):
        return samples_classes(adopt(Numpy(), X), columns, FEW)

    tall = np.zeros((12 * D, D))
    assert asked(tall)
    assert not asked(tall, columns=1)  # that has a block of its own
    assert not asked(tall[:-1])
    assert not asked(sp.csr_matrix(tall))
    assert not asked(np.zeros((100, 2)))  # the dense Hessian is as cheap
    assert not asked(np.zeros((12 * D, D)), columns=PRECONDITIONING.sample_most**2)  # no room


def test_softmax_of_long_tailed_columns_has_the_mixed_diagonal():
    rng = np.random.default_rng(3)
    X = sp.random(400, 300, 0.02, "csr", rng=rng)
    X.data[:] = 1
    rows = Rows(adopt(Numpy(), X), rng.integers(0, 3, 400), 3)
    curvature = LogisticRegression(C=5.0).fit(rows).curvature(rows)
    g = curvature.gradient(rows.take(np.arange(50)))
    found = Auto().solve(curvature, g)
    assert "mixed diagonal" in found.note
    exact = np.linalg.solve(curvature.dense(), g)
    np.testing.assert_allclose(found.value, exact, atol=1e-7 * np.abs(exact).max())


def test_fits_with_the_blocks_are_those_of_the_dense_hessian():
    """Beyond ``dense_work`` the trainer goes by conjugate gradients, and soon by the blocks."""
    rng = np.random.default_rng(4)
    n, d, k = 2600, 210, 5
    X = rng.standard_normal((n, d)) * np.geomspace(3, 0.05, d)
    y = (X @ rng.standard_normal((d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    rows = Rows(adopt(Numba(threads=2), X), y, k)
    fitted = LogisticRegression(C=1.0).fit(rows)
    assert samples_classes(rows.X, k, PRECONDITIONING)
    assert np.abs(fitted.curvature(rows).objective_gradient()).max() < 1e-8
