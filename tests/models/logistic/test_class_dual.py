"""Softmax in the space of the rows, against the dense Hessian and scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.sparse as sp
from problems import uneven
from sklearn.linear_model import LogisticRegression as Sklearn

import uids
from uids.backends import adopt, frequent
from uids.backends import numpy as numpy_backend
from uids.backends.frequent import most_frequent
from uids.backends.numba import Numba
from uids.backends.numpy import Numpy
from uids.models import Rows
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logistic.frequent import frequent_columns
from uids.models.logreg import LogisticRegression
from uids.solvers.auto import Auto
from uids.system.tuning import LOOPS, PRECONDITIONING

pytestmark = pytest.mark.xdist_group("numba")
N, D, K = 60, 400, 4


def text(backend=None, columns=D):
    """Rows of words with weights, of which a few are in most rows and most in one or two; one row
    is empty."""
    rng = np.random.default_rng(0)
    frequent = rng.random((N, 4)) + 0.5
    X = sp.hstack([frequent, sp.random(N, columns - 4, 0.03, rng=rng)], "csr")
    y = ((frequent - 1) @ rng.standard_normal((4, K)) + rng.gumbel(size=(N, K))).argmax(axis=1)
    X = sp.csr_matrix(sp.diags_array((np.arange(N) != 7).astype(float)) @ X)
    X.eliminate_zeros()
    return Rows(adopt(backend or Numpy(), X), y, K)


def curvature_of(rows, intercept, weighted, C=0.7):
    rng = np.random.default_rng(1)
    theta = rng.standard_normal(K * (rows.X.shape[1] + intercept)) * 0.3
    weights = rng.random(len(rows)) * (rng.random(len(rows)) < 0.8) if weighted else None
    return LogisticCurvature(FittedLogistic(theta, K, C, intercept), rows, weights)


@dataclass(frozen=True)
class ByColumns(Numba):
    """Stores even small data by columns."""

    def matrix(self, X):
        return super().matrix(X, replace(LOOPS, column_entries=1))


@pytest.fixture(params=[Numpy(), ByColumns(threads=2)], ids=["numpy", "numba"])
def backend(request):
    return request.param


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_it_is_the_solution_by_the_dense_hessian(backend, intercept, weighted, centred):
    """Of any right-hand side: one along which all classes move together too."""
    curvature = curvature_of(text(backend), intercept, weighted)
    G = np.random.default_rng(2).standard_normal((D + intercept, K))
    g = (G - G.mean(axis=1, keepdims=True) if centred else G).ravel()
    exact = np.linalg.solve(curvature.dense(), g)
    near = {"atol": 1e-9 * np.abs(exact).max(), "rtol": 0}
    s, y, scores, products = curvature.dual().solve(g, 1e-10 * np.linalg.norm(g), 500)
    np.testing.assert_allclose(s, exact, **near)
    S = s.reshape(-1, K)
    X = curvature.over.X.fetch()
    np.testing.assert_allclose(scores, X @ S[:D] + (S[D] if intercept else 0), atol=1e-7)
    assert 3 < products < 500
    # The residual of a start is made anew, and rounds otherwise than that of the iterations.
    again = curvature.dual().solve(g, 1e-9 * np.linalg.norm(g), 500, y)
    assert again.products <= 1
    np.testing.assert_allclose(again.s, exact, **near)
    found = Auto(tol=1e-11).solve(curvature, g)
    assert "space of the 60 rows" in found.note
    assert found.converged
    np.testing.assert_allclose(found.value, exact, **near)
    np.testing.assert_allclose(found.scores, scores, atol=1e-7)
    product, known = curvature.scored_dot(found.value, found.scores)
    np.testing.assert_allclose(product, curvature.dot(found.value), atol=1e-10)
    assert known is found.scores
    by_scores = curvature.row_products(curvature.over, found.value, found.scores)
    by_rows = curvature.row_products(curvature.over, found.value)
    np.testing.assert_allclose(by_scores, by_rows, atol=1e-9 * np.abs(by_rows).max())


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("goal", [0.3, 1e-2, 1e-4, 1e-7])
def test_the_estimate_of_the_residual_is_no_less_than_the_residual(intercept, goal):
    curvature = curvature_of(text(), intercept, False)
    g = curvature.gradient(curvature.over.take(np.arange(9)))
    size = np.linalg.norm(g)
    found = curvature.dual().solve(g, goal * size, 500)
    there = np.linalg.norm(g - curvature.dot(found.s)) / size
    assert there <= goal * (1 + 1e-9)
    assert there >= goal / 1000  # and it does not go on for long


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("warm", [False, True])
def test_a_fit_is_scikit_learns_optimum(backend, intercept, weighted, warm):
    rows = text(backend)
    weights = np.random.default_rng(3).random(N) * (np.arange(N) % 5 > 0) if weighted else None
    model = LogisticRegression(C=2.0, fit_intercept=intercept, tol=1e-12)
    size = K * (D + intercept)
    start = None
    if warm:
        start = model.restore(np.random.default_rng(1).standard_normal(size) * 0.1, rows)
    ours = model.fit(rows, weights, start).theta.reshape(-1, K)
    theirs = Sklearn(
        C=2.0, fit_intercept=intercept, solver="newton-cholesky", tol=1e-13, max_iter=200
    ).fit(rows.X.fetch(), rows.y, weights)
    np.testing.assert_allclose(ours[:D], theirs.coef_.T, atol=1e-6)
    if intercept:
        shift = ours[D] - theirs.intercept_
        np.testing.assert_allclose(shift, shift.mean(), atol=1e-6)


@pytest.mark.filterwarnings("ignore:do not trust")  # the numbers below tell more
@pytest.mark.parametrize("case", ["all -8", "all -12", "values 2", "columns 4"])
@pytest.mark.parametrize("intercept", [False, True])
def test_data_of_uneven_size_are_fitted_and_solved_for_all_the_same(monkeypatch, case, intercept):
    X, _ = uneven(case)
    y = np.random.default_rng(4).integers(0, 3, X.shape[0])
    model = LogisticRegression(fit_intercept=intercept)
    pairs = (X[:100], y[:100]), (X[100:], y[100:])
    found = uids.influence(model, *pairs)
    assert found.solution.converged
    monkeypatch.setattr(LogisticCurvature, "dual", lambda self: None)
    primal = uids.influence(model, *pairs)
    np.testing.assert_allclose(found.phi, primal.phi, atol=1e-6 * np.abs(primal.phi).max())


def test_it_is_for_wide_text_with_weights():
    assert curvature_of(text(), True, False).dual() is not None
    narrow = text(columns=PRECONDITIONING.wide_classes * N - 1)
    assert curvature_of(narrow, True, False).dual() is None
    ones = text()
    ones.X.fetch().data[:] = 1
    assert curvature_of(ones, True, False).dual() is None  # 6 columns for each row
    dense = Rows(adopt(Numpy(), text().X.fetch().toarray()), text().y, K)
    assert curvature_of(dense, True, False).dual() is None


@pytest.mark.parametrize("intercept", [False, True])
def test_rows_without_curvature_have_none(intercept):
    wide = curvature_of(text(), intercept, False)
    assert LogisticCurvature(wide.fitted, wide.over, np.zeros(N)).dual() is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("vectors", [(1,), (K,)])
def test_products_of_rows_with_rows(dtype, vectors, monkeypatch):
    """Once by X and Xᵀ, and then by the columns as each is cheapest: also where entries of one
    place are stored apart."""
    X = text().X.fetch()
    twice = sp.csr_matrix(
        (np.repeat(X.data / 2, 2).astype(dtype), np.repeat(X.indices, 2), X.indptr * 2), X.shape
    )
    u = np.random.default_rng(5).standard_normal((N, *vectors))
    for given in (X.astype(dtype), twice):
        matrix = Numpy().matrix(given)
        exact = given.toarray().astype(np.float64)
        exact = exact @ (exact.T @ u)
        for _ in range(3):
            np.testing.assert_allclose(matrix.outer_dot(u), exact, rtol=1e-5, atol=1e-5)
        assert "_folded" in matrix.__dict__
    matrix = Numpy().matrix(X)
    monkeypatch.setattr(numpy_backend, "memory", lambda: X.nnz)  # has no room for it
    for _ in range(3):
        np.testing.assert_allclose(matrix.outer_dot(u), X @ (X.T @ u), atol=1e-10)
    assert "_folded" not in matrix.__dict__


@pytest.mark.parametrize("weighted", [False, True])
def test_the_preconditioner_is_what_frequent_columns_do_and_stays_definite(backend, weighted):
    """I − V N⁻¹ Vᵀ with V and N written out; no more than (I + V Vᵀ)⁻¹, since N is no less than
    I + Vᵀ V, and no less than 0."""
    curvature = curvature_of(text(backend), False, weighted)
    dual, size, P = curvature.dual(), N * K, curvature.state
    rate = 0.7 * (np.ones(N) if curvature.weights is None else curvature.weights)
    F = curvature.over.X.frequent()
    V, middle = np.zeros((N, K, 4, K)), np.zeros((4, K, 4, K))
    for i in range(N):
        L = np.sqrt(rate[i] * P[i])[:, None] * (np.eye(K) - np.sqrt(np.outer(P[i], P[i])))
        for j in range(4):
            V[i, :, j] = F[i, j] * L.T
    for k in range(K):
        middle[:, k, :, k] = np.eye(4) + (F * (rate * P[:, k])[:, None]).T @ F
    V, middle = V.reshape(size, 4 * K), middle.reshape(4 * K, 4 * K)
    exact = np.eye(size) - V @ np.linalg.solve(middle, V.T)
    precondition = dual.preconditioner(1e-3, 1.0)
    # Of what solves are made of, of which each row is orthogonal to q_i.
    some = np.eye(size).reshape(size, N, K) * np.sqrt(P)
    some = np.eye(size).reshape(size, N, K) - some.sum(axis=2, keepdims=True) * np.sqrt(P)
    found = np.stack([precondition(each).Z.ravel() for each in some], axis=1)
    np.testing.assert_allclose(found, exact @ some.reshape(size, size).T, atol=1e-12)
    lowest, highest = np.linalg.eigvalsh(exact)[[0, -1]]
    assert 0 < lowest < 0.5 < highest < 1 + 1e-12
    assert np.linalg.eigvalsh(exact - np.linalg.inv(np.eye(size) + V @ V.T))[0] > -1e-12


@pytest.mark.parametrize("intercept", [False, True])
def test_with_it_a_solve_takes_fewer_products(backend, intercept):
    """Where the frequent columns are what there is to know, as in text of short documents."""
    rows = text(backend)
    X = rows.X.fetch() @ sp.diags_array(np.where(np.arange(D) < 4, 3.0, 0.3))
    rows = Rows(adopt(backend, sp.csr_matrix(X)), rows.y, K)
    curvature = curvature_of(rows, intercept, False)
    plain = replace(curvature, tuning=replace(PRECONDITIONING, frequent_goal=0.0))
    g = curvature.gradient(curvature.over.take(np.arange(9)))
    goal = 1e-6 * np.linalg.norm(g)
    few, many = (each.dual().solve(g, goal, 500) for each in (curvature, plain))
    assert few.products < 0.8 * many.products
    np.testing.assert_allclose(few.s, many.s, atol=1e-5 * np.abs(many.s).max())


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("size", [0.0, 1e-200])
def test_a_right_hand_side_whose_square_is_0_needs_no_product(intercept, size):
    curvature = curvature_of(text(), intercept, False)
    g = curvature.gradient(curvature.over.take(np.arange(9))) * size
    found = curvature.dual().solve(g, 1e-6 * size, 50)
    assert found.products == 0
    assert np.isfinite(found.s).all()


def test_frequent_columns_are_those_of_many_rows(backend):
    X = text(backend).X
    dense = X.fetch().toarray()
    many = dense[:, (dense != 0).sum(axis=0) * 4 > N]
    assert many.shape[1] == 4
    np.testing.assert_array_equal(X.frequent(), many)
    index = np.array([5, 3, 40])
    np.testing.assert_array_equal(X.rows(index).frequent()[:, :4], many[index])
    assert adopt(backend, dense).frequent().shape == (N, 0)


def test_of_frequent_columns_some_of_the_largest_are_taken_and_none_without_room(monkeypatch):
    X = text().X.fetch()
    F = most_frequent(X)
    assert F.shape == (N, 4)
    monkeypatch.setattr(frequent, "WIDTH", 2.1 / (X.nnz / N) ** 0.5)
    largest = np.sort(np.argsort((F**2).sum(axis=0))[-2:])
    np.testing.assert_array_equal(most_frequent(X), F[:, largest])
    monkeypatch.setattr(frequent, "memory", lambda: N)
    assert most_frequent(X).shape == (N, 0)
    nothing = Rows(adopt(Numpy(), X), text().y, K)
    weights = np.full((N, K), 0.1)
    assert frequent_columns(nothing.X, weights) is None
