"""Influence against the closed form and against models refitted without each row."""

import numpy as np
import pytest
from problems import make_rows

from uids.errors import UidsError
from uids.models.logistic import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.scores import influence, psi_norm, scores
from uids.solvers import relative_residual
from uids.solvers.direct import Direct


def row_gradients(model, rows):
    """∇l_i for each row, (n, size): what uids itself never builds."""
    X = np.asarray(rows.X.X)
    if model.intercept:
        X = np.hstack([X, np.ones((len(X), 1))])
    return np.einsum("ij,ik->ijk", X, model.residuals(rows)).reshape(len(X), -1)


def test_phi_is_the_closed_form(fitted):
    train, model = fitted
    validation = make_rows(n=25, classes=train.classes, seed=9)
    curvature = model.curvature(train)
    found = influence(curvature, train, validation, Direct())
    g = row_gradients(model, validation).sum(axis=0)
    expected = -row_gradients(model, train) @ np.linalg.solve(curvature.dense(), g)
    np.testing.assert_allclose(found.phi, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    assert found.solution.status == "converged"
    assert found.solution.relative_residual < 1e-12
    assert found.identity_error < 1e-9


@pytest.mark.parametrize("classes", [2, 3])
def test_phi_predicts_what_leaving_a_row_out_does(classes):
    both = make_rows(n=400, classes=classes)
    train, validation = both.take(np.arange(300)), both.take(np.arange(300, 400))
    component = LogisticRegression(C=0.1, tol=1e-12)
    model = component.fit(train)
    phi = influence(model.curvature(train), train, validation, Direct()).phi
    before = model.losses(validation).mean()
    after = np.empty(len(train))
    for i in range(len(train)):
        rest = np.delete(np.arange(len(train)), i)
        after[i] = component.fit(train.take(rest), start=model).losses(validation).mean()
    predicted = -phi / (len(train) * len(validation))
    assert np.corrcoef(predicted, after - before)[0, 1] > 0.999
    assert np.polyfit(predicted, after - before, 1)[0] == pytest.approx(1, abs=0.05)


def test_the_identity_tests_the_fit(fitted):
    """Stop short of the optimum, and the identity says so although the solve is exact."""
    train, model = fitted
    short = FittedLogistic(model.theta * 0.9, model.classes, model.C, model.intercept)
    found = influence(short.curvature(train), train, train, Direct())
    assert found.solution.relative_residual < 1e-12
    assert found.identity_error > 1e-3


def test_the_residual_is_that_of_the_given_s(fitted):
    train, model = fitted
    curvature = model.curvature(train)
    g = curvature.gradient(train.take(np.arange(7)))
    s = Direct().solve(curvature, g).value
    assert relative_residual(curvature, s, g) < 1e-12
    assert relative_residual(curvature, 0.5 * s, g) == pytest.approx(0.5)
    both = np.stack([s, 0.75 * s], axis=1)
    assert relative_residual(curvature, both, np.stack([g, g], axis=1)) == pytest.approx(0.25)


def test_psi_norm_is_exact_when_small(fitted):
    train, model = fitted
    curvature = model.curvature(train)
    psi = np.linalg.solve(curvature.dense(), row_gradients(model, train).T).T
    found = psi_norm(curvature, train, Direct())
    np.testing.assert_allclose(found, np.linalg.norm(psi, axis=1), rtol=1e-10)


def test_psi_norm_is_estimated_when_large(monkeypatch):
    train = make_rows(n=40, d=30)
    curvature = LogisticRegression().fit(train).curvature(train)
    exact = psi_norm(curvature, train, Direct())
    monkeypatch.setattr("uids.scores.EXACT_LIMIT", 10)
    estimate = psi_norm(curvature, train, Direct(), seed=4)
    error = np.abs(estimate / exact - 1)
    assert 0 < error.mean() < 0.06  # √(1/512) = 4.4 % is expected
    np.testing.assert_array_equal(estimate, psi_norm(curvature, train, Direct(), seed=4))


def test_scores_compute_psi_only_when_asked(fitted, monkeypatch):
    train, model = fitted
    calls = []
    monkeypatch.setattr("uids.scores.psi_norm", lambda *a: calls.append(a) or np.ones(len(train)))
    found = scores(model, model.curvature(train), train, np.zeros(len(train)), Direct(), 0)
    np.testing.assert_array_equal(found.loss, model.losses(train))
    assert not calls
    assert found.psi_norm is found.psi_norm
    assert len(calls) == 1


def test_direct_refuses_what_it_cannot_do(monkeypatch):
    class Indefinite:
        size, rows = 2, 1

        def dense(self):
            return np.diag([1.0, -1.0])

    with pytest.raises(UidsError, match="not positive definite"):
        Direct().solve(Indefinite(), np.ones(2))

    class Huge:
        size = 10_000_000

    with pytest.raises(UidsError, match=r"would need 1,490,116.1 GiB for 10,000,000 parameters"):
        Direct().solve(Huge(), np.ones(2))

    class NotFinite:
        size, rows = 1, 1

        def dense(self):
            return np.array([[np.nan]])

    with pytest.raises(UidsError, match="the Hessian is not finite"):
        Direct().solve(NotFinite(), np.ones(1))
