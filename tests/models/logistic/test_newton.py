"""The trainer against scikit-learn, against its own gradient, and on problems made to be hard."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import TwoProducts, largest, make_rows
from sklearn.linear_model import LogisticRegression as Sklearn

from uids.backends import adopt
from uids.backends.numpy import Numpy
from uids.errors import UidsError
from uids.models import Rows
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logistic.newton import glimpse, minimise
from uids.models.logreg import SKLEARN, LogisticRegression
from uids.system.tuning import NEWTON

TRUNCATED = replace(NEWTON, dense_work=0)
WAYS = {
    "factorised": NEWTON,
    "truncated": TRUNCATED,
    "glimpse": replace(NEWTON, glimpse=2, glimpse_tall=1),
}


def objective(fitted, rows, weights=None):
    k = fitted.columns
    top = fitted.theta[: -k if fitted.intercept else None]
    weights = np.ones(len(rows)) if weights is None else weights
    return top @ top / 2 + fitted.C * (weights @ fitted.losses(rows))


@dataclass(frozen=True)
class Counting:
    """Counts the products with X."""

    seen: list[str] = field(default_factory=list)

    def matrix(self, X):
        return CountingMatrix(X, self.seen)


class CountingMatrix:
    def __init__(self, X, seen):
        self.X, self.shape, self.seen = X, X.shape, seen

    def dot(self, V):
        self.seen.append("dot")
        return self.X @ V

    def tdot(self, U):
        self.seen.append("tdot")
        return self.X.T @ U

    def gram_dot(self, w, V):
        self.seen.append("gram_dot")
        return self.X.T @ (w.reshape(-1, *[1] * (V.ndim - 1)) * (self.X @ V))


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


def fit(model, rows, weights=None, start=None, tuning=NEWTON):
    """As the model fits, with numbers of the trainer that are handed in."""
    begin = start or model.untrained(rows)
    found = minimise(begin, rows, weights, model.tol, model.max_iter, tuning)
    assert found.largest <= 1000 * model.tol
    return model.restore(found.theta, rows)


def test_a_model_is_fitted_by_the_trainer(fitted):
    rows, found = fitted
    model = LogisticRegression(C=0.5, fit_intercept=found.intercept, tol=1e-12)
    np.testing.assert_array_equal(fit(model, rows).theta, found.theta)


def test_a_glimpse_of_the_rows_is_a_start_near_the_optimum():
    rows = make_rows(n=20_000, d=6)
    weights = np.random.default_rng(0).random(20_000)
    zero = FittedLogistic(np.zeros(7), 2, 0.01, True)
    best = minimise(zero, rows, weights, 1e-12, 100)
    near = glimpse(zero, rows, weights, 100, NEWTON)
    assert near.C == zero.C
    # What 1,250 rows do not tell: some √(1/1250) of a coefficient.
    np.testing.assert_allclose(near.theta, best.theta, atol=0.15)
    assert near.theta.any()
    np.testing.assert_array_equal(minimise(near, rows, weights, 1e-12, 100).theta, best.theta)
    taller = replace(NEWTON, glimpse_tall=20_000)
    assert glimpse(zero, rows, weights, 100, taller) is zero
    assert minimise(zero, rows, weights, 1e-12, 100, taller).steps > best.steps


def test_no_glimpse_where_it_would_see_no_weight():
    rows = make_rows(n=20_000, d=2)
    weights = (np.arange(20_000) % NEWTON.glimpse > 0).astype(float)
    zero = FittedLogistic(np.zeros(2), 2, 1.0, False)
    assert glimpse(zero, rows, weights, 100, NEWTON) is zero
    assert glimpse(zero, rows, None, 100, NEWTON) is not zero


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("warm", [False, True])
def test_it_is_scikit_learns_optimum(way, classes, intercept, sparse, weighted, warm):
    rows = make_rows(n=120, classes=classes, sparse=sparse)
    weights = np.random.default_rng(3).random(120) * (np.arange(120) % 5 > 0) if weighted else None
    model = LogisticRegression(C=0.7, fit_intercept=intercept, tol=1e-12)
    start = None
    if warm:
        size = (4 + intercept) * (1 if classes == 2 else classes)
        start = model.restore(np.random.default_rng(1).standard_normal(size), rows)
        if intercept and classes > 2:  # the one direction that has no optimum stays where it was
            start.theta[-classes:] -= start.theta[-classes:].mean()
    ours = fit(model, rows, weights, start, way)
    theirs = Sklearn(
        C=0.7, fit_intercept=intercept, solver="newton-cholesky", tol=1e-13, max_iter=200
    ).fit(rows.X.fetch(), rows.y, weights)
    theta = theirs.coef_.T
    if intercept:
        theta = np.vstack([theta, theirs.intercept_ - (classes > 2) * theirs.intercept_.mean()])
    np.testing.assert_allclose(ours.theta, theta.ravel(), atol=1e-9)
    assert largest(ours, rows, weights) < 2e-12
    other = model.restore(theta.ravel(), rows)
    assert objective(ours, rows, weights) <= objective(other, rows, weights) * (1 + 1e-14)


def test_what_it_says_of_the_gradient_is_so(way):
    rows = make_rows(classes=3)
    weights = np.random.default_rng(0).random(60)
    start = FittedLogistic(np.zeros(15), 3, 2.0, True)
    for steps in (0, 1, 2, 3):
        found = minimise(start, rows, weights, 1e-15, steps, way)
        assert found.steps == steps
        there = FittedLogistic(found.theta, 3, 2.0, True)
        assert found.largest == pytest.approx(largest(there, rows, weights), rel=1e-6)
    assert (start.theta == 0).all()


@given(
    seed=st.integers(0, 10**6),
    classes=st.sampled_from([2, 3]),
    intercept=st.booleans(),
    log_C=st.integers(-6, 6),
    scales=st.lists(st.integers(-5, 5), min_size=4, max_size=4),
    constant=st.sampled_from([None, 0.0, 1.0, 100.0]),
    truncated=st.booleans(),
)
def test_hard_problems_end_at_a_stationary_point(
    seed, classes, intercept, log_C, scales, constant, truncated
):
    rows = make_rows(n=40, classes=classes, seed=seed)
    X = rows.X.fetch() * 10.0 ** np.array(scales)
    if constant is not None:
        X[:, 1] = constant
    rows = Rows(adopt(Numpy(), X), rows.y, classes)
    weights = np.random.default_rng(seed).integers(0, 3, 40) * 1.0
    weights[0] = 1
    model = LogisticRegression(C=10.0**log_C, fit_intercept=intercept)
    fitted = fit(model, rows, weights, tuning=TRUNCATED if truncated else NEWTON)
    # Rounding of a sum over x_i p_i leaves as much in a column as the column is large.
    assert largest(fitted, rows, weights) <= max(1e-9, 1e-13 * np.abs(X).max())


@pytest.mark.parametrize("C", [1e-8, 1.0, 1e6])
@pytest.mark.parametrize("classes", [2, 3])
def test_separable_data_and_one_row_for_each_class(way, C, classes):
    for copies in (1, 20):
        X = np.repeat(np.eye(classes) * 3, copies, axis=0)
        rows = Rows(adopt(Numpy(), X), np.repeat(np.arange(classes), copies), classes)
        fitted = fit(LogisticRegression(C=C), rows, tuning=way)
        assert largest(fitted, rows) <= 1e-9
        assert (fitted.probabilities(rows).argmax(axis=1) == rows.y).all()


def test_a_start_far_out_is_left_behind(way):
    rows = make_rows()
    model = LogisticRegression(C=1.0)
    far = model.restore(np.full(5, 1e8), rows)
    near, best = fit(model, rows, start=far, tuning=way), fit(model, rows, tuning=way)
    np.testing.assert_allclose(near.theta, best.theta, atol=1e-7)


def test_rounding_ends_it_cleanly(way):
    rows = make_rows()
    found = minimise(FittedLogistic(np.zeros(5), 2, 1.0, True), rows, None, 1e-300, 1000, way)
    assert found.steps < 30
    assert found.largest < 1e-14


@pytest.mark.parametrize("classes", [2, 3])
def test_the_search_makes_no_pass_over_the_rows(classes):
    backend = Counting()
    rows = make_rows(n=300, d=1200, classes=classes, backend=backend)
    rows.X.prepare()
    backend.seen.clear()  # of the products that were tried
    size = 1200 * (1 if classes == 2 else 3)
    found = minimise(FittedLogistic(np.zeros(size), classes, 1.0, False), rows, None, 1e-9, 100)
    passes = backend.seen.count
    if classes == 2:
        assert passes("dot") == found.steps
        assert passes("tdot") == found.steps + 1
        assert passes("gram_dot") == found.products
    else:
        assert passes("dot") == found.steps + found.products
        assert passes("tdot") == found.steps + 1 + found.products


def test_a_refit_on_most_of_the_rows_takes_few_steps(way):
    rows = make_rows(n=2000, d=8)
    model = LogisticRegression()
    full = fit(model, rows, tuning=way)
    part = rows.take(np.flatnonzero(np.random.default_rng(0).random(2000) < 0.95))
    assert minimise(full, part, None, 1e-9, 100, way).steps <= 4
    assert minimise(full, rows, None, 1e-9, 100, way).steps == 0


@pytest.mark.parametrize("classes", [2, 3])
def test_two_products_are_enough_for_a_backend(way, classes):
    plain, least = (make_rows(classes=classes, backend=b) for b in (Numpy(), TwoProducts()))
    model = LogisticRegression(tol=1e-11)
    ours, theirs = (fit(model, rows, tuning=way) for rows in (plain, least))
    np.testing.assert_allclose(theirs.theta, ours.theta, atol=1e-9)


@pytest.mark.parametrize("name", SKLEARN)
@pytest.mark.parametrize("classes", [2, 3])
def test_scikit_learns_solvers_can_be_chosen(name, classes):
    rows = make_rows(n=80, classes=classes)
    model = LogisticRegression(fit_solver=name, fit_intercept=False, max_iter=5000, tol=1e-8)
    if name == "liblinear" and classes == 3:
        with pytest.raises(UidsError, match=r"two classes only, and there are 3"):
            model.fit(rows)
        return
    best = LogisticRegression(fit_intercept=False).fit(rows)
    for start in (None, best):
        np.testing.assert_allclose(model.fit(rows, start=start).theta, best.theta, atol=1e-4)


def test_what_cannot_be_fitted_is_told():
    for bad in ({"fit_solver": "adam"}, {"fit_solver": "liblinear"}):
        with pytest.raises(ValueError, match=r"fit_solver must be"):
            LogisticRegression(**bad)
    rows = make_rows()
    with pytest.raises(UidsError, match=r"sum above 0 \(got 0\)"):
        LogisticRegression().fit(rows, np.zeros(60))
    with pytest.raises(UidsError, match="did not converge"):
        LogisticRegression(fit_solver="sag", max_iter=1).fit(rows)
    huge = Rows(adopt(Numpy(), rows.X.fetch() * 1e200), rows.y, 2)
    with pytest.raises(UidsError, match=r"not finite.*huge values in X"):
        LogisticRegression().fit(huge)
