"""Loss, gradient and Hessian against finite differences and against scikit-learn."""

import numpy as np
import pytest
from problems import TwoProducts, make_rows
from sklearn.linear_model import LogisticRegression as Sklearn
from sklearn.metrics import log_loss

from uids.backends import adopt
from uids.backends.numpy import Numpy
from uids.errors import UidsError
from uids.models import Rows
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression


def moved(fitted, theta):
    return FittedLogistic(theta, fitted.classes, fitted.C, fitted.intercept)


def directions(size):
    return np.random.default_rng(5).standard_normal((3, size))


def test_loss_is_the_negative_log_of_the_probability(fitted):
    train, model = fitted
    P = model.probabilities(train)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(
        model.losses(train), -np.log(P[np.arange(len(train)), train.y]), rtol=1e-12
    )
    assert model.losses(train).mean() == pytest.approx(log_loss(train.y, P), rel=1e-12)


def test_loss_stays_finite_far_from_the_boundary():
    train = make_rows()
    far = FittedLogistic(np.full(5, 1e4), 2, 1.0, True)
    assert np.isfinite(far.losses(train)).all()


def test_gradient_is_the_derivative_of_the_loss(fitted):
    train, model = fitted
    gradient = model.curvature(train).gradient(train)
    h = 1e-6
    for v in directions(len(model.theta)):
        up, down = (moved(model, model.theta + s * h * v).losses(train).sum() for s in (1, -1))
        assert gradient @ v == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-6)


def test_row_products_are_the_derivatives_of_the_row_losses(fitted):
    train, model = fitted
    V = directions(len(model.theta)).T
    products = model.curvature(train).row_products(train, V)
    assert products.shape == (len(train), 3)
    h = 1e-6
    for column in range(3):
        up, down = (moved(model, model.theta + s * h * V[:, column]).losses(train) for s in (1, -1))
        np.testing.assert_allclose(products[:, column], (up - down) / (2 * h), atol=1e-7)
    single = model.curvature(train).row_products(train, V[:, 0])
    np.testing.assert_allclose(single, products[:, 0], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
def test_hessian_is_the_derivative_of_the_gradient(fitted, weighted):
    train, model = fitted
    n, k = len(train), model.columns
    weights = np.random.default_rng(1).random(n) + 0.5 if weighted else None
    penalised = np.ones(len(model.theta))
    if model.intercept:
        penalised[-k:] = 0

    def objective_gradient(theta):
        at = moved(model, theta)
        residuals = at.residuals(train) * (1 if weights is None else weights[:, None])
        G = train.X.fetch().T @ residuals
        if model.intercept:
            G = np.vstack([G, residuals.sum(axis=0)])
        return (G.ravel() + penalised * theta / model.C) / n

    curvature = model.curvature(train, weights)
    h = 1e-6
    for v in directions(len(model.theta)):
        if model.intercept and k > 1:
            v[-k:] -= v[-k:].mean()  # the one direction in which softmax is flat
        up, down = (objective_gradient(model.theta + s * h * v) for s in (1, -1))
        np.testing.assert_allclose(curvature.dot(v), (up - down) / (2 * h), atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_all_forms_of_the_hessian_agree(fitted, weighted):
    train, model = fitted
    weights = np.random.default_rng(1).random(len(train)) if weighted else None
    curvature = model.curvature(train, weights)
    H = curvature.dense()
    np.testing.assert_allclose(H, H.T, atol=1e-16)
    assert np.linalg.eigvalsh(H)[0] > 0
    np.testing.assert_allclose(np.diag(H), curvature.diagonal(), rtol=1e-12)
    V = directions(curvature.size).T
    np.testing.assert_allclose(H @ V, curvature.dot(V), atol=1e-14)
    np.testing.assert_allclose(H @ V[:, 0], curvature.dot(V[:, 0]), atol=1e-14)
    every = np.arange(len(train))
    np.testing.assert_allclose(curvature.dot_rows(V, every), curvature.dot(V), atol=1e-14)
    # Over a partition into equal parts, the estimates from the parts average to the whole.
    parts = np.array_split(np.random.default_rng(2).permutation(len(train)), 4)
    mean = np.mean([curvature.dot_rows(V, part) for part in parts], axis=0)
    np.testing.assert_allclose(mean, curvature.dot(V), atol=1e-14)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_two_products_are_enough_for_a_backend(classes, sparse):
    plain = make_rows(classes=classes, sparse=sparse)
    least = make_rows(classes=classes, sparse=sparse, backend=TwoProducts())
    model = LogisticRegression().fit(plain)
    ours, theirs = model.curvature(plain), model.curvature(least)
    V = directions(ours.size).T
    for a, b in [
        (ours.dot(V), theirs.dot(V)),
        (ours.diagonal(), theirs.diagonal()),
        (ours.dense(), theirs.dense()),
        (ours.gradient(plain), theirs.gradient(least)),
        (ours.row_products(plain, V), theirs.row_products(least, V)),
    ]:
        np.testing.assert_allclose(a, b, atol=1e-13)


@pytest.mark.parametrize("sparse", [False, True])
def test_float32_data_gives_float64_accuracy(sparse):
    double = make_rows(sparse=sparse)
    X = double.X.fetch().astype(np.float32)
    single, exact = (Rows(adopt(Numpy(), X), double.y, 2) for X in (X, X.astype(np.float64)))
    v = np.random.default_rng(0).standard_normal(4)
    u = np.random.default_rng(0).standard_normal(60)
    np.testing.assert_allclose(single.X.dot(v), exact.X.dot(v), rtol=1e-14)
    np.testing.assert_allclose(single.X.tdot(u), exact.X.tdot(u), rtol=1e-13)
    np.testing.assert_allclose(single.X.gram(u), exact.X.gram(u), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_fit_is_scikit_learns_optimum(classes, intercept, sparse):
    train = make_rows(n=120, classes=classes, sparse=sparse)
    weights = np.random.default_rng(3).random(120) + 0.1
    ours = LogisticRegression(C=0.7, fit_intercept=intercept).fit(train, weights)
    theirs = Sklearn(C=0.7, fit_intercept=intercept, solver="lbfgs", tol=1e-12, max_iter=10000)
    theirs.fit(train.X.fetch(), train.y, weights)
    np.testing.assert_allclose(
        ours.probabilities(train), theirs.predict_proba(train.X.fetch()), atol=1e-6
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_a_warm_start_ends_in_the_same_place(classes):
    train = make_rows(classes=classes)
    model = LogisticRegression(tol=1e-11)
    cold = model.fit(train)
    part = train.take(np.arange(0, 60, 2)) if classes == 2 else train.take(np.arange(50))
    warm, fresh = model.fit(part, start=cold), model.fit(part)
    np.testing.assert_allclose(warm.theta, fresh.theta, atol=1e-7)


def test_many_features_take_the_other_solver():
    train = make_rows(n=80, d=1200)
    model = LogisticRegression(fit_intercept=False)
    fitted = model.fit(train)
    gradient = train.X.fetch().T @ fitted.residuals(train)[:, 0] + fitted.theta / model.C
    assert np.abs(gradient).max() / 80 < 1e-8


def test_what_cannot_be_fitted_is_refused():
    train = make_rows(classes=3)
    with pytest.raises(UidsError, match="no row of class number 2"):
        LogisticRegression().fit(train.take(np.flatnonzero(train.y < 2)))
    with pytest.raises(UidsError, match=r"did not converge.*raise model.max_iter"):
        LogisticRegression(max_iter=1, C=100.0).fit(train)
    for bad in ({"C": 0.0}, {"C": float("inf")}, {"tol": 0.0}, {"max_iter": 0}):
        with pytest.raises(ValueError, match="must be"):
            LogisticRegression(**bad)
