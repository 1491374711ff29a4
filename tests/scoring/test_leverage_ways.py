"""Each way to the leverages, against the closed form and against refits; and the plan."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_rows

import uids
from uids.backends import adopt
from uids.models import Rows
from uids.models.adopted import adopt_fitted, adopt_model
from uids.models.logreg import LogisticRegression
from uids.scoring.influence import influence_at
from uids.scoring.leverage import LeveragePlan
from uids.scoring.validation_check import check_validation
from uids.solvers.adopted import adopt_solver
from uids.system.tuning import NORMS

CG = adopt_solver("cg")
EXACT = ["cholesky", "rows"]
shapes = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
kinds = pytest.mark.parametrize("classes", [2, 3, 4])
intercepts = pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])


def scored(train, intercept=True, weights=None, C=0.5, **words):
    model = LogisticRegression(C=C, fit_intercept=intercept, tol=1e-11).fit(train, weights)
    found = influence_at(model.curvature(train, weights), train, train, CG)
    return model, replace(found, **words)


def text(n, d, words=5):
    columns = np.random.default_rng(0).integers(0, d, (n, words))
    X = sp.csr_matrix(
        (np.ones(n * words), (np.repeat(np.arange(n), words), columns.ravel())), (n, d)
    )
    return X / np.sqrt(words)


def by(found, *ways, **words):
    return replace(found, tuning=replace(NORMS, ways=ways, **words))


def dense_forms(model, rows, H):
    """M_i written out, (n, k, k)."""
    X = rows.X.fetch().toarray() if rows.X.sparse else rows.X.fetch()
    if model.intercept:
        X = np.hstack([X, np.ones((len(X), 1))])
    E = np.einsum("ij,kl->ijkl", X, np.eye(model.columns)).reshape(len(X), -1, model.columns)
    return np.einsum("isa,st,itb->iab", E, np.linalg.inv(H), E)


@pytest.mark.parametrize("how", EXACT)
@shapes
@kinds
@intercepts
def test_the_exact_ways_are_the_closed_form(how, classes, intercept, sparse):
    train = make_rows(n=40, d=12, classes=classes, sparse=sparse)
    for weights in (None, np.random.default_rng(0).uniform(0.1, 2, 40)):
        model, found = scored(train, intercept, weights)
        found = by(found, how)
        assert found.leverage_plan.how == how
        M = dense_forms(model, train, found.curvature.dense())
        np.testing.assert_allclose(found._forms, M, atol=1e-8 * np.abs(M).max())
        assert found.leverage_error == 0


@shapes
@kinds
@intercepts
def test_probes_are_as_near_as_they_say(classes, intercept, sparse):
    train = make_rows(n=150, d=60, classes=classes, sparse=sparse)
    _, found = scored(train, intercept, C=0.05)
    exact = by(found, "cholesky").leverage
    assert by(found, "probes").leverage_error < np.sqrt(2 / 256)  # what squares alone would leave
    for aim in (0.0, 0.1):
        rough = by(found, "probes", probe_error=aim)
        error = np.sqrt(np.mean((rough.leverage / exact - 1) ** 2))
        assert 0.5 < error / rough.leverage_error < 2
    assert rough.leverage_error <= 0.1


@pytest.mark.parametrize("how", EXACT)
@shapes
@pytest.mark.parametrize("classes", [2, 3])
@intercepts
def test_leave_one_out_probabilities_are_those_of_refits(how, classes, intercept, sparse):
    train = make_rows(n=200, d=5, classes=classes, sparse=sparse)
    component = LogisticRegression(C=0.1, fit_intercept=intercept, tol=1e-11)
    full, found = scored(train, intercept, C=0.1)
    found = by(found, how)
    tried = [*np.argsort(-found.leverage)[:5], 3, 70]
    for i in tried:
        without = component.fit(train.take(np.delete(np.arange(200), i)), start=full)
        expected = without.probabilities(train.take(np.array([i])))[0]
        assert np.abs(found.loo_probability[i] - expected).max() < 1e-3


def test_rows_of_which_the_model_is_sure_are_exact_too():
    """W_i is next to 0 there, and must not be divided by."""
    train = make_rows(n=30, d=6)
    X = train.X.fetch() * np.where(np.arange(30) < 3, 1e3, 1)[:, None]
    train = Rows(adopt("numpy", X), train.y, 2)
    model, found = scored(train)
    M = dense_forms(model, train, found.curvature.dense())
    np.testing.assert_allclose(by(found, "rows")._forms, M, rtol=1e-6)


def test_one_probe_and_empty_rows():
    train = make_rows(n=50, d=6, sparse=True)
    X = train.X.fetch().copy()
    X.data[X.indptr[4] : X.indptr[5]] = 0
    train = Rows(adopt("numpy", sp.csr_matrix(X)), train.y, 2)
    for intercept in (True, False):
        _, found = scored(train, intercept, probes=1)
        assert by(found, "probes").leverage_error == pytest.approx(np.sqrt(2))
        more = by(replace(found, probes=100), "probes", probe_block=20)
        assert np.isfinite(more.leverage).all()


def test_the_plan_follows_the_shape():
    def plan(n, d, sparse, classes=2, **words):
        X = text(n, d) if sparse else np.ones((n, d))
        rows = Rows(adopt("numpy", X), np.arange(n) % classes, classes)
        model = LogisticRegression().untrained(rows)
        found = influence_at(model.curvature(rows), rows, rows, CG)
        return replace(found, tuning=replace(NORMS, **words)).leverage_plan

    assert plan(2000, 30, False).how == "cholesky"
    assert plan(500, 40_000, True).how == "rows"
    assert plan(20_000, 30_000, True).how == "probes"
    assert plan(500, 40_000, True, memory_share=10**9).how == "probes"  # no room
    assert plan(300, 20_000, True, exact_work=0.0, exact_worth=0.0).how == "probes"
    found = plan(500, 40_000, True)
    assert isinstance(found, LeveragePlan)
    assert "500 rows × 40,001 parameters: exactly, by the space of the rows" in found.sentence
    assert plan(500, 40_000, True, classes=3).work > found.work > 500**3 / 20


def test_no_work_is_done_for_a_plan():
    train = make_rows()
    _, found = scored(train)

    class Still:
        def __getattribute__(self, name):
            raise AssertionError(f"{name} was asked for")

    assert replace(found, solver=Still()).leverage_plan.how == "cholesky"


def test_wide_text_is_checked_for_clean_validation_rows():
    X = text(400, 30_000, 30)
    y = (np.asarray(X[:, :15_000].sum(axis=1) > X[:, 15_000:].sum(axis=1))).ravel().astype(int)
    train = Rows(adopt("numpy", X[:300]), y[:300], 2)
    validation = Rows(adopt("numpy", X[300:]), y[300:], 2)
    full = LogisticRegression().fit(train)
    found = influence_at(full.curvature(train), train, validation, adopt_solver("auto"))
    assert found.leverage_plan.how == "rows"
    assert check_validation(adopt_model("logreg"), adopt_fitted(full), found).p_value is not None


def test_norms_of_a_network_are_exact_whatever_the_solver_is():
    pytest.importorskip("torch")
    rows = make_rows(n=60, d=5)
    pair = rows.X.fetch(), rows.y
    model = uids.REGISTRIES["model"].build("torch_module")
    found = uids.influence(model, pair, pair, solver="cg")
    assert found.psi_error == 0
    inverse = np.linalg.inv(found.curvature.dense())
    expected = np.linalg.norm(inverse @ found.curvature.row_gradients(rows), axis=0)
    np.testing.assert_allclose(found.psi_norm, expected, rtol=1e-8)
