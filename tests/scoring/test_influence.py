"""Influence, and what is derived from it, against formulas written out."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from problems import BACKENDS, TwoProducts, make_rows

import uids
from uids.backends import adopt
from uids.models import Rows
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.registry import REGISTRIES
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver
from uids.solvers.cg import CG
from uids.system.tuning import Norms

DIRECT = adopt_solver("direct")


def row_gradients(model, rows):
    """∇l_i for each row, (n, size): what uids itself never builds for many rows."""
    X = np.asarray(rows.X.fetch().todense() if sp.issparse(rows.X.fetch()) else rows.X.fetch())
    if model.intercept:
        X = np.hstack([X, np.ones((len(X), 1))])
    return np.einsum("ij,ik->ijk", X, model.residuals(rows)).reshape(len(X), -1)


def test_phi_is_the_closed_form_for_all_shapes(fitted):
    train, model = fitted
    validation = make_rows(n=25, classes=train.classes, seed=9)
    curvature = model.curvature(train)
    found = influence_at(curvature, train, validation, DIRECT)
    g = row_gradients(model, validation).sum(axis=0)
    expected = -row_gradients(model, train) @ np.linalg.solve(curvature.dense(), g)
    np.testing.assert_allclose(found.phi, expected, atol=1e-10 * np.abs(expected).max())
    assert found.identity_error < 1e-9


def test_the_identity_tests_the_fit(fitted):
    """Stop short of the optimum, and the identity says so although the solve is exact."""
    train, model = fitted
    short = FittedLogistic(model.theta * 0.9, model.classes, model.C, model.intercept)
    found = influence_at(short.curvature(train), train, train, DIRECT)
    assert found.solution.relative_residual < 1e-12
    assert found.identity_error > 1e-3
    # A poor solve leaves it as it is: the two tell different things apart.
    rough = influence_at(model.curvature(train), train, train, adopt_solver(CG(tol=0.5)))
    assert rough.solution.relative_residual > 1e-3
    assert rough.identity_error < 1e-8


def test_norms_pairs_and_self_influence(fitted):
    train, model = fitted
    validation = make_rows(n=25, classes=train.classes, seed=9)
    curvature = model.curvature(train)
    found = influence_at(curvature, train, validation, DIRECT)
    G, Gv = row_gradients(model, train), row_gradients(model, validation)
    inverse = np.linalg.inv(curvature.dense())
    np.testing.assert_allclose(found.psi_norm, np.linalg.norm(G @ inverse, axis=1), rtol=1e-9)
    np.testing.assert_allclose(found.gradient_norm, np.linalg.norm(G, axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        found.self_influence, -np.einsum("ij,jk,ik->i", G, inverse, G), rtol=1e-9
    )
    ((first, block),) = found.pairs()
    assert first == 0
    np.testing.assert_allclose(block, -G @ inverse @ Gv.T, atol=1e-9)
    np.testing.assert_allclose(block.sum(axis=1), found.phi, atol=1e-9)


def test_pairs_come_in_blocks():
    train, validation = make_rows(n=50), make_rows(n=23, seed=1)
    model = LogisticRegression().fit(train)
    found = influence_at(model.curvature(train), train, validation, DIRECT)
    ((_, whole),) = found.pairs()
    narrow = replace(found, tuning=Norms(block=8 * 50 * 10))
    blocks = list(narrow.pairs())
    assert [first for first, _ in blocks] == [0, 10, 20]
    np.testing.assert_allclose(np.hstack([block for _, block in blocks]), whole, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_estimates_for_large_problems(classes):
    train = make_rows(n=80, d=30, classes=classes)
    model = LogisticRegression(C=1.0).fit(train)
    exact = influence_at(model.curvature(train), train, train, DIRECT)
    values = [exact.psi_norm, exact.leverage, exact.self_influence]
    estimated = Norms(ways=("probes",), probe_error=0.0, block=8 * 80 * 50)
    rough = replace(exact, seed=1, tuning=estimated)
    for value, estimate in zip(
        values, [rough.psi_norm, rough.leverage, rough.self_influence], strict=True
    ):
        error = np.abs(estimate / value - 1)
        assert 1e-6 < error.mean() < 0.11  # 256 probes: 4 % in a norm, 9 % in a square
    few = replace(rough, probes=4)
    assert np.abs(few.psi_norm / values[0] - 1).mean() > 0.1


def test_leverage_sums_to_the_effective_number_of_parameters(fitted):
    train, model = fitted
    found = influence_at(model.curvature(train), train, train, DIRECT)
    assert ((found.leverage > 0) & (found.leverage < model.columns)).all()
    free = LogisticRegression(C=1e6, fit_intercept=model.intercept, tol=1e-10).fit(train)
    unpenalised = influence_at(free.curvature(train), train, train, DIRECT).leverage.sum()
    d = 4 + model.intercept
    # Softmax has one redundant set of parameters, which only the tiny ridge holds.
    expected = d if model.classes == 2 else d * (model.classes - 1)
    assert unpenalised == pytest.approx(expected, abs=0.01)


def test_the_predicted_change_of_a_subset():
    both = make_rows(n=500)
    train, validation = both.take(np.arange(400)), both.take(np.arange(400, 500))
    component = LogisticRegression(tol=1e-12)
    model = component.fit(train)
    found = influence_at(model.curvature(train), train, validation, DIRECT)
    rng = np.random.default_rng(0)
    predicted, actual = [], []
    for _ in range(30):
        kept = np.sort(rng.permutation(400)[:390])
        after = component.fit(train.take(kept), start=model).losses(validation).mean()
        predicted.append(found.predicted_change(kept))
        actual.append(after - model.losses(validation).mean())
    assert np.corrcoef(predicted, actual)[0, 1] > 0.99
    assert np.polyfit(predicted, actual, 1)[0] == pytest.approx(1, abs=0.1)
    mask = np.zeros(400, dtype=bool)
    mask[kept] = True
    assert found.predicted_change(mask) == found.predicted_change(kept)
    assert found.predicted_change(np.arange(400)) == 0
    for change in (found.predicted_change, found.predicted_change_first_order):
        assert change([]) == pytest.approx(-found.phi.sum() / (400 * 100))
    first = -found.phi[~mask].sum() / (400 * 100)
    assert found.predicted_change_first_order(kept) == pytest.approx(first)
    for wrong in (np.ones(400, int), np.ones(3, bool), [0.5], [-1], [400], [[1]]):
        with pytest.raises(uids.UidsError, match="kept must be a mask of 400 booleans"):
            found.predicted_change(wrong)


def test_from_python():
    rows = make_rows(n=90)
    X, y = rows.X.fetch(), np.array(["no", "yes"])[rows.y]
    train, validation = (X[:60], y[:60]), (X[60:], y[60:])
    found = uids.influence("logreg", train, validation)
    assert found.solution.note.startswith("direct: 5 parameters")
    component = LogisticRegression()
    for model in (component, component.fit(rows.take(np.arange(60)))):
        again = uids.influence(model, train, validation, solver="cg", backend=TwoProducts())
        np.testing.assert_allclose(again.phi, found.phi, atol=1e-7)
    with pytest.raises(uids.UidsError, match="the label perhaps, which no training row has"):
        uids.influence("logreg", train, (X[60:], np.full(30, "perhaps")))
    with pytest.raises(uids.UidsError, match="labels are all no: two classes"):
        uids.influence("logreg", (X, np.full(90, "no")), validation)
    with pytest.raises(uids.UidsError, match="validation rows: X holds values that are not finite"):
        uids.influence("logreg", train, (np.full((1, 4), np.nan), y[:1]))


def test_what_influence_is_given_is_checked():
    rows = make_rows(n=60, classes=3)
    X, y = rows.X.fetch(), rows.y
    fitted = LogisticRegression().fit(rows)
    for given, message in [
        ({"solver": None}, "solver must be a name, a dict such as"),
        ({"model": LogisticRegression}, "model must be a name, a dict such as"),
        ({"model": object()}, "model must be a name, a dict such as"),
        ({"validation": None}, "validation must be a pair"),
        ({"train": X}, "train must be a pair"),
        ({"model": fitted, "train": (X, y % 2), "validation": (X, y % 2)}, "has 3 classes, the d"),
        ({"model": fitted, "train": (X[:, :2], y), "validation": (X[:, :2], y)}, "2 features"),
        ({"validation": (X * 1e300, y)}, "not finite"),
    ]:
        words = {"model": "logreg", "train": (X, y), "validation": (X, y)} | given
        with pytest.raises(uids.UidsError, match=message), np.errstate(all="ignore"):
            uids.influence(**words)


def test_a_model_that_is_not_at_its_optimum_is_warned_of():
    rows = make_rows(n=60)
    model = LogisticRegression().fit(rows)
    off = FittedLogistic(model.theta * 0.5, 2, model.C, intercept=True)
    with pytest.warns(UserWarning, match="do not trust φ"):
        uids.influence(off, (rows.X.fetch(), rows.y), (rows.X.fetch(), rows.y))


def test_a_backend_may_lend_its_arrays_read_only():
    class Lent(TwoProducts):
        def matrix(self, X):
            kernel = super().matrix(X)
            dot, tdot = kernel.dot, kernel.tdot

            def lent(array):
                array.flags.writeable = False
                return array

            kernel.dot, kernel.tdot = (lambda V: lent(dot(V))), (lambda U: lent(tdot(U)))
            return kernel

    lent, plain = make_rows(backend=Lent()), make_rows()
    model = LogisticRegression().fit(lent)
    for solver in (adopt_solver("cg"), DIRECT):
        found = influence_at(model.curvature(lent), lent, lent, solver).phi
        expected = influence_at(model.curvature(plain), plain, plain, solver).phi
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_fused_product_of_a_backend_is_used(fitted):
    train, model = fitted
    calls = []

    class Fused(TwoProducts):
        def matrix(self, X):
            kernel = super().matrix(X)
            kernel.gram_dot = lambda w, V: calls.append(1) or X.T @ (w * (X @ V).T).T
            return kernel

    rows = Rows(adopt(Fused(), train.X.fetch()), train.y, train.classes)
    rows.X.prepare()
    calls.clear()  # those by which the products were tried
    for V in np.random.default_rng(0).standard_normal((2, len(model.theta), 3)):
        for v in (V, V[:, 0]):
            np.testing.assert_allclose(
                model.curvature(rows).dot(v), model.curvature(train).dot(v), atol=1e-13
            )
    assert bool(calls) == (model.classes == 2)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_scores_that_a_solve_has_left_give_the_same_influence(backend, sparse):
    pytest.importorskip("torch") if backend == "torch" else None
    backend = REGISTRIES["backend"].build(backend)
    rows = make_rows(n=300, d=12, sparse=sparse, backend=backend)
    rng = np.random.default_rng(0)
    model = FittedLogistic(rng.standard_normal(13) * 0.1, 2, 0.5, True)
    curvature = model.curvature(rows, rng.random(300))  # ∇l_i are without the weights
    found = influence_at(curvature, rows, rows, adopt_solver(CG()))
    held = found.phi.copy()
    assert (
        influence_at(curvature, rows, rows.take(np.arange(9)), adopt_solver(CG())).phi
        is not found.phi
    )
    np.testing.assert_array_equal(found.phi, held)
    expected = -row_gradients(model, rows) @ found.solution.value
    np.testing.assert_allclose(found.phi, expected, atol=1e-12 * np.abs(expected).max())


def test_an_operator_that_hands_on_the_rest_is_another_one():
    """One that bends more than the curvature it wraps, whose scores are not its own."""
    rows = make_rows(n=80, d=6)
    model = FittedLogistic(np.random.default_rng(0).standard_normal(6), 2, 0.5, False)
    curvature = model.curvature(rows)

    class Damped:
        def dot(self, V):
            return curvature.dot(V) + 0.1 * V

        def __getattr__(self, name):
            return getattr(curvature, name)

    g = np.random.default_rng(7).standard_normal(6)
    found = CG().solve(Damped(), g)
    assert found.converged
    assert found.scores is None
    np.testing.assert_allclose((curvature.dense() + 0.1 * np.eye(6)) @ found.value, g, atol=1e-9)


def test_a_solve_that_fails_is_an_error_unless_told_otherwise():
    settings = {"sampler": "random", "repeats": 1}
    with pytest.raises(uids.UidsError, match=r"raise solver.max_iter.*on_failure=warn goes on"):
        uids.run(solver=CG(max_iter=2), **settings)
    metrics = uids.run(solver=CG(max_iter=2, on_failure="warn"), **settings).metrics
    assert "raise solver.max_iter" in metrics["influence"]["status"]
    assert metrics["influence"]["relative_residual"] > 1e-6


def test_a_gradient_that_is_not_finite_is_refused():
    train = make_rows()
    broken = FittedLogistic(np.full(5, np.nan), 2, 1.0, True)
    with pytest.raises(uids.UidsError, match="the gradient is not finite"):
        influence_at(broken.curvature(train), train, train, DIRECT)
