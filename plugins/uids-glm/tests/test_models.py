"""The four models against other libraries, closed forms and refits."""

import numpy as np
import pytest
from scipy.special import xlogy
from sklearn import linear_model
from sklearn.svm import LinearSVC
from uids_glm import Poisson, Probit, Ridge, SquaredHinge

import uids.testing
from uids.backends import adopt
from uids.models import Rows
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver

MODELS = [Ridge, Poisson, SquaredHinge, Probit]


def problem(model, n=200, d=5, seed=0):
    """Rows that the model can half learn."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), np.random.default_rng(9).standard_normal(d)
    z = X @ w
    if model is Ridge:
        return Rows(adopt("numpy", X), z + 1 + rng.standard_normal(n), 0)
    if model is Poisson:
        return Rows(adopt("numpy", X), rng.poisson(np.exp(0.4 * z + 1)).astype(float), 0)
    return Rows(adopt("numpy", X), (z + 1.5 * rng.standard_normal(n) > 0).astype(np.int64), 2)


@pytest.mark.parametrize("check", uids.testing.checks("model"), ids=str)
@pytest.mark.parametrize("model", MODELS)
def test_it_keeps_the_contract(model, check):
    check(model())


@pytest.mark.parametrize("model", MODELS)
def test_slope_and_bend_are_derivatives_of_the_loss(model):
    z, step = np.linspace(-6, 6, 40), 1e-6  # neither at 1 nor at -1, where the hinge has none
    for y in (0, 1):
        y, m = np.full(40, y), model()
        slope = (m.loss(y, z + step) - m.loss(y, z - step)) / (2 * step)
        np.testing.assert_allclose(m.slope(y, z), slope, rtol=1e-6, atol=1e-8)
        bend = (m.slope(y, z + step) - m.slope(y, z - step)) / (2 * step)
        np.testing.assert_allclose(m.bend(y, z), bend, rtol=1e-6, atol=1e-7)


def test_far_out_nothing_overflows():
    z = np.array([-1e4, -40.0, 40.0, 1e4])
    for model in (SquaredHinge(), Probit()):
        for y in (np.zeros(4), np.ones(4)):
            for values in (model.loss(y, z), model.slope(y, z), model.bend(y, z)):
                assert np.isfinite(values).all()
            assert (model.bend(y, z) >= 0).all()


def test_ridge_is_that_of_scikit_learn():
    rows = problem(Ridge)
    theirs = linear_model.Ridge(alpha=1 / (2 * 0.3)).fit(rows.X.fetch(), rows.y)
    found = Ridge(C=0.3).fit(rows)
    np.testing.assert_allclose(found.theta, [*theirs.coef_, theirs.intercept_], rtol=1e-10)
    np.testing.assert_allclose(found.predictions(rows), theirs.predict(rows.X.fetch()), rtol=1e-9)


def test_poisson_is_that_of_scikit_learn():
    rows, C = problem(Poisson), 0.3
    theirs = linear_model.PoissonRegressor(
        alpha=1 / (len(rows) * C), solver="newton-cholesky", tol=1e-12
    ).fit(rows.X.fetch(), rows.y)
    found = Poisson(C=C).fit(rows)
    np.testing.assert_allclose(found.theta, [*theirs.coef_, theirs.intercept_], rtol=1e-8)
    mean = found.predictions(rows)
    deviance = 2 * (xlogy(rows.y, rows.y / mean) - rows.y + mean)
    np.testing.assert_allclose(found.losses(rows), deviance / 2, rtol=1e-9, atol=1e-12)


def test_large_counts_are_fitted_from_0():
    """A step from a mean of 1 to one of 20,000 overflows, and the search finds the way back."""
    rows = problem(Poisson)
    rows = Rows(rows.X, rows.y * 10_000, 0)
    theirs = linear_model.PoissonRegressor(
        alpha=1 / len(rows), solver="newton-cholesky", tol=1e-7, max_iter=1000
    ).fit(rows.X.fetch(), rows.y)
    np.testing.assert_allclose(
        Poisson(C=1.0).fit(rows).theta, [*theirs.coef_, theirs.intercept_], rtol=1e-6
    )


def test_squared_hinge_is_that_of_liblinear():
    rows = problem(SquaredHinge)
    theirs = LinearSVC(C=0.3, fit_intercept=False, dual=False, tol=1e-12, max_iter=10_000)
    theirs.fit(rows.X.fetch(), rows.y)
    found = SquaredHinge(C=0.3, fit_intercept=False).fit(rows)
    np.testing.assert_allclose(found.theta, theirs.coef_[0], atol=1e-6)
    sign = found.probabilities(rows)[:, 1] > 0.5
    np.testing.assert_array_equal(sign, theirs.predict(rows.X.fetch()))


def test_probit_is_that_of_statsmodels():
    """Which has no penalty: at a C at which there is none to speak of."""
    api = pytest.importorskip("statsmodels.api")
    rows = problem(Probit)
    theirs = api.Probit(rows.y, api.add_constant(rows.X.fetch(), prepend=False)).fit(disp=0)
    np.testing.assert_allclose(Probit(C=1e9).fit(rows).theta, theirs.params, atol=1e-6)


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no intercept"])
def test_ridge_without_a_row_is_exact_in_closed_form(intercept):
    """Everything by numpy alone: the hat matrix, and normal equations without each row."""
    train, judges, C = problem(Ridge, n=60), problem(Ridge, n=30, seed=1), 0.2
    full = Ridge(C=C, fit_intercept=intercept).fit(train)
    found = influence_at(full.curvature(train), train, judges, adopt_solver("direct"))
    A, B = (design(rows, intercept) for rows in (train, judges))
    y, n = train.y, len(train)
    penalty = np.diag([1.0] * 5 + [0.0] * intercept) / (2 * C)
    gram = A.T @ A + penalty
    theta = np.linalg.solve(gram, A.T @ y)
    hat = np.einsum("ij,ij->i", A, np.linalg.solve(gram, A.T).T)
    residual = y - A @ theta
    np.testing.assert_allclose(found.leverage, hat, rtol=1e-8)
    np.testing.assert_allclose(found.loo_loss, (residual / (1 - hat)) ** 2, rtol=1e-8)
    g = 2 * B.T @ (B @ theta - judges.y)
    for i in range(n):
        others = np.arange(n) != i
        normal = A[others].T @ A[others] + penalty
        moved = np.linalg.solve(normal, A[others].T @ y[others]) - theta
        # To first order in the validation loss, and exact in the parameters.
        assert found.corrected[i] == pytest.approx(-n * g @ moved, rel=1e-8)
        assert found.phi[i] == pytest.approx(-n * g @ moved * (1 - hat[i]), rel=1e-8)
        # The validation loss itself is a square: with its second-order term nothing is left.
        change = ((B @ (theta + moved) - judges.y) ** 2).sum() - ((B @ theta - judges.y) ** 2).sum()
        predicted = -found.corrected[i] / n + ((B @ moved) ** 2).sum()
        assert predicted == pytest.approx(change, rel=1e-8, abs=1e-10)


def design(rows, intercept):
    X = rows.X.fetch()
    return np.hstack([X, np.ones((len(X), 1))]) if intercept else X


@pytest.mark.parametrize("model", [Poisson, SquaredHinge, Probit])
def test_the_others_without_a_row_by_refits(model):
    train, judges, fits = problem(model, n=300), problem(model, n=60, seed=1), model(C=0.3)
    full = fits.fit(train)
    found = influence_at(full.curvature(train), train, judges, adopt_solver("direct"))
    tried = [*np.argsort(-np.abs(found.corrected))[:8], *range(0, 300, 30)]
    changes, losses = [], []
    g = full.curvature(judges).gradient(judges)
    for i in tried:
        without = fits.fit(train.take(np.delete(np.arange(300), i)), start=full)
        changes.append(-300 * g @ (without.theta - full.theta))
        losses.append(without.losses(train.take(np.array([i])))[0])
    size = np.abs(changes).max()
    # One Newton step; of the hinge without the rows that come to lie on the other side of it.
    share = 0.06 if model is SquaredHinge else 0.03
    np.testing.assert_allclose(found.corrected[tried], changes, atol=share * size)
    np.testing.assert_allclose(found.loo_loss[tried], losses, rtol=share, atol=1e-2)
