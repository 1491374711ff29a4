"""Influence against the closed form on real data, the numbers of reference, refits, statsmodels."""

import warnings

import numpy as np
import pytest
import real_data
import scipy.sparse as sp
from problems import BACKENDS, make_rows

from uids.backends import adopt
from uids.backends.numpy import Numpy
from uids.models import Rows
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.registry import REGISTRIES
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver

DIRECT = adopt_solver("direct")

# (minimum, maximum) of φ C / n
REFERENCE = {
    "breast-cancer_scale": (-0.0107406, 0.0405523),
    "diabetes_scale": (-0.0125606, 0.0429710),
    "a1a": (-0.0363269, 0.0364335),
    "mnist_1_7": (-0.1127025, 0.0774082),
}


def closed_form(model, train, validation):
    """φ from the formula with X itself, not by any code of uids but the probabilities."""
    X, Xv = (
        np.asarray(r.X.fetch().todense() if sp.issparse(r.X.fetch()) else r.X.fetch())
        for r in (train, validation)
    )
    if model.intercept:
        X, Xv = (np.hstack([a, np.ones((len(a), 1))]) for a in (X, Xv))
    p, pv = (1 / (1 + np.exp(-(a @ model.theta))) for a in (X, Xv))
    ridge = np.ones(X.shape[1]) / model.C
    if model.intercept:
        ridge[-1] = 0
    H = (X.T @ (X * (p * (1 - p))[:, None]) + np.diag(ridge)) / len(X)
    s = np.linalg.solve(H, Xv.T @ (pv - validation.y))
    return -(X @ s) * (p - train.y)


def backend(name):
    if name == "torch":
        pytest.importorskip("torch")
    return REGISTRIES["backend"].build(name)


@pytest.fixture(scope="module", params=real_data.NAMES)
def real(request):
    """Train and validation rows of a real set, the fits, and φ in closed form, by intercept."""
    (X, y), (Xv, yv), _ = real_data.paper_split(request.param)
    train, validation = (
        Rows(adopt(Numpy(), a), b.astype(np.int64), 2) for a, b in ((X, y), (Xv, yv))
    )
    found = {}
    for intercept in (False, True):
        model = LogisticRegression(fit_intercept=intercept).fit(train)
        found[intercept] = model, closed_form(model, train, validation)
    return request.param, train, validation, found


@pytest.mark.xdist_group("real")
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("backend_name", BACKENDS)
def test_phi_on_real_data(real, intercept, dense, backend_name):
    name, train, validation, found = real
    model, expected = found[intercept]
    on = backend(backend_name)
    rows, judged = (
        Rows(adopt(on, part.X.fetch().toarray() if dense else part.X.fetch()), part.y, 2)
        for part in (train, validation)
    )
    curvature = model.curvature(rows)
    largest = np.abs(expected).max()
    for solver in ("direct", "cg", "pcg", "nystrom", "auto"):
        phi = influence_at(curvature, rows, judged, adopt_solver(solver)).phi
        bound = 1e-10 if solver == "direct" else 1e-6
        assert np.abs(phi - expected).max() <= bound * largest, solver
    if not intercept:
        low, high = REFERENCE[name]
        assert phi.min() * model.C / len(rows) == pytest.approx(low, abs=6e-8)
        assert phi.max() * model.C / len(rows) == pytest.approx(high, abs=6e-8)


@pytest.mark.xdist_group("real")
@pytest.mark.parametrize("intercept", [False, True])
def test_lissa_on_real_data(real, intercept):
    _, train, validation, found = real
    model, expected = found[intercept]
    solver = adopt_solver("lissa")
    phi = influence_at(model.curvature(train), train, validation, solver).phi
    assert np.corrcoef(phi, expected)[0, 1] >= 0.999
    assert np.linalg.norm(phi - expected) <= 0.05 * np.linalg.norm(expected)


def leave_one_out(train, validation, component, model):
    before = model.losses(validation).mean()
    after = np.empty(len(train))
    for i in range(len(train)):
        rest = np.delete(np.arange(len(train)), i)
        after[i] = component.fit(train.take(rest), start=model).losses(validation).mean()
    return after - before


def test_leave_one_out_on_real_data():
    (X, y), (Xv, yv), _ = real_data.paper_split("breast-cancer_scale")
    train, validation = (
        Rows(adopt(Numpy(), a.toarray()), b.astype(np.int64), 2) for a, b in ((X, y), (Xv, yv))
    )
    component = LogisticRegression(fit_intercept=False, tol=1e-12)
    model = component.fit(train)
    found = influence_at(model.curvature(train), train, validation, DIRECT)
    change = leave_one_out(train, validation, component, model)
    assert len(change) == 350
    scale = -1 / (len(train) * len(validation))
    predicted = scale * found.phi
    assert np.corrcoef(predicted, change)[0, 1] >= 0.9995
    assert 0.98 <= np.polyfit(predicted, change, 1)[0] <= 1.04
    # One Newton step without the row is closer still.
    assert np.abs(scale * found.corrected - change).max() < np.abs(predicted - change).max()


def test_leave_one_out_with_three_classes():
    both = make_rows(n=800, d=3, classes=3)
    train, validation = both.take(np.arange(600)), both.take(np.arange(600, 800))
    component = LogisticRegression(C=0.1, tol=1e-12)
    model = component.fit(train)
    found = influence_at(model.curvature(train), train, validation, DIRECT)
    change = leave_one_out(train, validation, component, model)
    scale = -1 / (len(train) * len(validation))
    assert np.corrcoef(scale * found.phi, change)[0, 1] >= 0.9995
    assert 0.98 <= np.polyfit(scale * found.phi, change, 1)[0] <= 1.04
    corrected = np.abs(scale * found.corrected - change).max()
    assert corrected < np.abs(scale * found.phi - change).max()


def test_statsmodels_agrees():
    """Logit without a penalty: d_params is H⁻¹∇l_i / (1 − h_i), hat_matrix_diag is h_i."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.api import Logit
    both = make_rows(n=260, d=5)
    train, validation = both.take(np.arange(200)), both.take(np.arange(200, 260))
    result = Logit(train.y, train.X.fetch()).fit(disp=0, method="newton", tol=1e-14)
    theirs = result.get_influence()
    model = FittedLogistic(np.asarray(result.params), 2, 1e15, intercept=False)
    found = influence_at(model.curvature(train), train, validation, DIRECT)
    np.testing.assert_allclose(found.leverage, theirs.hat_matrix_diag, rtol=1e-10)
    g = model.curvature(train).gradient(validation)
    # d_params is θ̂ less the parameters without the row; their likelihood is minus our loss.
    np.testing.assert_allclose(found.corrected / 200, theirs.d_params @ g, rtol=1e-10)
    np.testing.assert_allclose(found.corrected, found.phi / (1 - found.leverage), rtol=1e-12)
