"""The base for linear losses: what a loss of ten lines gets, against logreg and optimisers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from problems import TwoProducts, make_rows
from scipy.optimize import minimize
from scipy.special import expit

import uids
from uids.backends import adopt
from uids.models import LinearLoss, Rows
from uids.models.logreg import LogisticRegression
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver


@dataclass(frozen=True)
class LogCosh(LinearLoss):
    """l = log cosh(y − z): near 0 a square, far out the distance."""

    loss_name: ClassVar[str] = "log cosh"
    continuous: ClassVar[bool] = True

    def loss(self, y, z):
        return np.logaddexp(y - z, z - y) - np.log(2)

    def slope(self, y, z):
        return np.tanh(z - y)

    def bend(self, y, z):
        return 1 - np.tanh(z - y) ** 2


@dataclass(frozen=True)
class Logistic(LinearLoss):
    """What logreg is, written as a loss of one score."""

    loss_name: ClassVar[str] = "logloss"

    def loss(self, y, z):
        return np.logaddexp(0, z) - y * z

    def slope(self, y, z):
        return expit(z) - y

    def bend(self, y, z):
        return expit(z) * expit(-z)

    def probability(self, z):
        return expit(z)


def number_rows(n=60, d=4, seed=0, backend="numpy", sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    y = X @ rng.standard_normal(d) + 3 + rng.standard_t(2, n)
    return Rows(adopt(backend, sp.csr_matrix(X) if sparse else X), y, 0)


SHAPES = {
    "dense": {"n": 80, "d": 5},
    "sparse": {"n": 80, "d": 6, "sparse": True},
    "more columns than rows": {"n": 40, "d": 90, "sparse": True},
}


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_the_logistic_loss_on_the_base_is_logreg(shape, intercept):
    train, judges = make_rows(**shape), make_rows(**shape, seed=1)
    weights = np.random.default_rng(2).uniform(0.5, 2, len(train))
    scored = []
    for cls in (Logistic, LogisticRegression):
        full = cls(C=0.7, fit_intercept=intercept, tol=1e-12).fit(train, weights)
        curvature = full.curvature(train, weights)
        scored.append((full, influence_at(curvature, train, judges, adopt_solver("cg"))))
    (mine, ours), (other, theirs) = scored
    close = {"rtol": 1e-6, "atol": 1e-9}
    np.testing.assert_allclose(mine.theta, other.theta, **close)
    np.testing.assert_allclose(mine.probabilities(judges), other.probabilities(judges), **close)
    for name in ("leverage", "corrected", "self_influence", "loo_probability", "loo_loss"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), **close)
    for name in ("phi", "psi_norm", "gradient_norm"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-5, atol=1e-5 * abs(theirs.phi).max()
        )
    kept = np.arange(0, len(train), 2)
    V = np.random.default_rng(3).standard_normal((len(mine.theta), 2))
    pair = [each.curvature for each in (ours, theirs)]
    np.testing.assert_allclose(pair[0].dense(), pair[1].dense(), **close)
    np.testing.assert_allclose(pair[0].dot_rows(V, kept), pair[1].dot_rows(V, kept), **close)


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no intercept"])
def test_a_fit_is_the_minimum_of_its_objective(intercept):
    rows, model = number_rows(), LogCosh(C=0.3, fit_intercept=intercept)
    X = rows.X.fetch()
    X = np.hstack([X, np.ones((len(X), 1))]) if intercept else X
    penalised = np.arange(X.shape[1]) < 4

    def objective(theta):
        z = X @ theta
        value = 0.3 * np.log(np.cosh(rows.y - z)).sum() + (theta[penalised] ** 2).sum() / 2
        return value, 0.3 * X.T @ np.tanh(z - rows.y) + theta * penalised

    found = minimize(objective, np.zeros(X.shape[1]), jac=True, tol=1e-12).x
    np.testing.assert_allclose(model.fit(rows).theta, found, atol=1e-6)


def test_gradient_and_hessian_by_finite_differences():
    rows = number_rows()
    full = LogCosh(C=0.3).fit(rows)
    curvature, step = full.curvature(rows), 1e-6
    gradients, H = curvature.row_gradients(rows), curvature.dense()
    for k, e in enumerate(np.eye(5) * step):
        up, down = (LogCosh(C=0.3).restore(full.theta + each, rows) for each in (e, -e))
        slope = (up.losses(rows) - down.losses(rows)) / (2 * step)
        np.testing.assert_allclose(gradients[k], slope, atol=1e-8)
        ends = [each.curvature(rows).objective_gradient() for each in (up, down)]
        np.testing.assert_allclose(H[k], (ends[0] - ends[1]) / (2 * step), atol=1e-8)


@pytest.mark.xdist_group("numba")
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_every_backend_gives_the_same_fit(sparse):
    thetas = [
        LogCosh().fit(number_rows(backend=backend, sparse=sparse)).theta
        for backend in ("numpy", "numba", TwoProducts())
    ]
    for theta in thetas[1:]:
        np.testing.assert_allclose(theta, thetas[0], atol=1e-9)


def test_the_unit_of_what_is_predicted_is_no_obstacle():
    """tol is in units of the gradient: a millionth, and a million."""
    from sklearn.linear_model import Ridge

    rows = number_rows()
    for unit in (1e-8, 1e8):
        theta = Squares(C=0.5).fit(Rows(rows.X, rows.y * unit, 0)).theta
        theirs = Ridge(alpha=1.0).fit(rows.X.fetch(), rows.y * unit)
        np.testing.assert_allclose(theta / unit, [*theirs.coef_ / unit, theirs.intercept_ / unit])


@dataclass(frozen=True)
class Squares(LogCosh):
    loss_name: ClassVar[str] = "squared error"

    def loss(self, y, z):
        return (y - z) ** 2

    def slope(self, y, z):
        return 2 * (z - y)

    def bend(self, y, z):
        return np.full(len(z), 2.0)


def test_rows_that_a_model_is_not_for_are_one_line():
    three = make_rows(n=30, classes=3)
    with pytest.raises(uids.UidsError, match="knows two classes only, and there are 3"):
        Logistic().fit(three)
    one = make_rows(n=30)
    with pytest.raises(uids.UidsError, match="are all of one class"):
        Logistic().fit(Rows(one.X, np.ones(30, dtype=np.int64), 2))


def test_a_fit_that_cannot_converge_says_so():
    with pytest.raises(uids.UidsError, match=r"did not converge: .* raise model.max_iter"):
        LogCosh(max_iter=1).fit(number_rows())
