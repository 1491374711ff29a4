"""Conjugate gradients column by column, against the textbook's and the dense Hessian."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from uids.backends import Matrix, columns
from uids.backends.numba import Numba
from uids.errors import UidsError
from uids.models import Rows
from uids.models.columnwise import Columnwise
from uids.models.logistic import FittedLogistic, LogisticCurvature
from uids.models.preconditioner import preconditioner
from uids.solvers.auto import Auto
from uids.solvers.conjugate import conjugate_gradients

pytestmark = pytest.mark.xdist_group("numba")
N, D = 90, 400


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(columns, "ENTRIES", 1)
    monkeypatch.setattr(columns, "SPAN", 64)


def curvature_of(values="float64", intercept=True, view="all", weighted=False, threads=2):
    """Words, some in most rows and most in a few, stored by columns."""
    rng = np.random.default_rng(0)
    X = sp.random(N, D, 0.03, "lil", rng=rng)
    X[:, :3] = rng.random((N, 3)) + 0.5
    X = X.tocsr().astype(values if values != "ones" else np.float64)
    if values == "ones":
        X.data[:] = 1
    whole = Matrix(Numba(threads=threads), X)
    index = {
        "all": np.arange(N),
        "some": rng.permutation(N)[:70],
        "twice": np.r_[np.arange(80), 5, 5, 7],
    }[view]
    rows = Rows(whole.rows(index), rng.integers(0, 2, len(index)), 2)
    whole.outer_dot(np.ones(N))  # which stores them
    theta = rng.standard_normal(D + intercept) * 0.3
    weights = rng.random(len(index)) if weighted else None
    return LogisticCurvature(FittedLogistic(theta, 2, 2.0, intercept), rows, weights)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("view", ["all", "some", "twice"])
@pytest.mark.parametrize(
    ("values", "weighted", "threads"),
    [("float64", True, 1), ("float32", False, 2), ("ones", True, 3)],
)
def test_it_is_the_textbooks_recursion(values, intercept, view, weighted, threads):
    curvature = curvature_of(values, intercept, view, weighted, threads)
    own, plain = curvature.preconditioner(), preconditioner(curvature, head=False)
    assert isinstance(own, Columnwise)
    g = np.random.default_rng(1).standard_normal(curvature.size)
    exact = np.linalg.solve(curvature.dense(), g)
    keys = {"tol": 1e-11, "max_iter": 500}
    found = conjugate_gradients(curvature, g, precondition=own, **keys)
    textbook = conjugate_gradients(curvature, g, precondition=plain, **keys)
    assert found.converged
    assert found.relative_residual <= 1e-11
    np.testing.assert_allclose(found.value, exact, atol=1e-9 * np.abs(exact).max())
    assert abs(found.iterations - textbook.iterations) <= 1
    few = {"tol": 1e-11, "max_iter": 5}  # after as many iterations it is the same vector
    a = conjugate_gradients(curvature, g, precondition=own, **few)
    b = conjugate_gradients(curvature, g, precondition=plain, **few)
    assert a.iterations == b.iterations == 5
    assert "raise solver.max_iter" in a.status
    np.testing.assert_allclose(a.value, b.value, rtol=1e-9, atol=1e-12)
    assert a.relative_residual == pytest.approx(b.relative_residual, rel=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
def test_it_goes_on_from_a_start_and_leaves_the_residual(intercept):
    curvature = curvature_of(intercept=intercept)
    rng = np.random.default_rng(2)
    g, s = rng.standard_normal((2, curvature.size))
    r = g - curvature.dot(s)
    first = s.copy()
    products, well = curvature.preconditioner().descend(s, r, 1e-6, 500)
    assert well
    assert 3 < products < 500
    assert np.linalg.norm(r) <= 1e-6
    np.testing.assert_allclose(r, g - curvature.dot(s), atol=1e-12 * np.linalg.norm(g))
    assert (s != first).all()


def test_auto_takes_it_once_the_columns_are_stored(monkeypatch):
    curvature = curvature_of()
    g = np.random.default_rng(3).standard_normal(curvature.size)
    calls, descend = [], Columnwise.descend
    monkeypatch.setattr(Columnwise, "descend", lambda *given: calls.append(1) or descend(*given))
    found = Auto().solve(curvature, g)
    assert calls
    assert "own preconditioner" in found.note
    curvature.over.X.kernel.stored.columns = None
    again = Auto().solve(curvature, g)
    assert len(calls) == 1
    np.testing.assert_allclose(found.value, again.value, atol=1e-8 * np.abs(again.value).max())


def test_several_right_hand_sides_are_those_one_by_one():
    curvature = curvature_of()
    G = np.random.default_rng(5).standard_normal((curvature.size, 3))
    together = Auto().solve(curvature, G).value
    for j in range(3):
        alone = Auto().solve(curvature, G[:, j]).value
        np.testing.assert_allclose(together[:, j], alone, atol=1e-8 * np.abs(alone).max())


def test_a_recursion_that_has_drifted_starts_again(monkeypatch):
    curvature = curvature_of()
    g = np.random.default_rng(6).standard_normal(curvature.size)
    descend, calls = Columnwise.descend, []

    def hopeful(self, s, r, target, limit):
        calls.append(limit)
        return descend(self, s, r, target * (1e4 if len(calls) == 1 else 1), limit)

    monkeypatch.setattr(Columnwise, "descend", hopeful)
    found = Auto(tol=1e-9).solve(curvature, g)
    assert found.converged
    assert found.relative_residual <= 1e-9
    assert len(calls) == 2
    assert calls[1] < calls[0]


def test_another_operator_has_the_recursion_of_the_textbook(monkeypatch):
    """One that bends more, and hands on the rest."""
    curvature = curvature_of()

    class Damped:
        def dot(self, V):
            return curvature.dot(V) + 0.1 * V

        def __getattr__(self, name):
            return getattr(curvature, name)

    g = np.random.default_rng(7).standard_normal(curvature.size)
    exact = np.linalg.solve(curvature.dense() + 0.1 * np.eye(curvature.size), g)
    found = Auto().solve(Damped(), g)
    assert found.converged
    assert found.scores is None
    np.testing.assert_allclose(found.value, exact, atol=1e-8 * np.abs(exact).max())


def test_no_curvature_but_of_the_intercept_is_told():
    whole = curvature_of()
    flat = LogisticCurvature(whole.at, whole.over, np.zeros(whole.rows))
    g = np.ones(flat.size)
    with pytest.raises(UidsError, match="positive definite"):
        Auto().solve(flat, g)


def test_it_is_the_same_every_time():
    curvature = curvature_of(threads=3)
    g = np.random.default_rng(4).standard_normal(curvature.size)
    first, second = (Auto().solve(curvature, g).value for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_huge_values_are_told():
    curvature = curvature_of()
    curvature._w[:] = np.inf
    with pytest.raises(UidsError, match="not finite"):
        Auto().solve(curvature, np.ones(curvature.size))
