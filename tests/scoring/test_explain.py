"""Why a row harms: the parts of φ, single pairs, typical values and neighbours, each against an
oracle; and whether a column that was made wrong is the one that is named."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from problems import TwoProducts, make_rows
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.neighbors import NearestNeighbors

import uids
from uids.models.logreg import LogisticRegression
from uids.scoring import neighbours
from uids.scoring.explain import explain
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver
from uids.system.tuning import Norms

DIRECT = adopt_solver("direct")


def scored(classes=2, intercept=True, sparse=False, n=60, d=4, solver=DIRECT, backend=None):
    train = make_rows(n=n, d=d, classes=classes, sparse=sparse, backend=backend)
    validation = make_rows(n=25, d=d, classes=classes, sparse=sparse, seed=9, backend=backend)
    model = LogisticRegression(C=0.5, fit_intercept=intercept, tol=1e-12).fit(train)
    return influence_at(model.curvature(train), train, validation, solver), model


def dense(rows):
    X = rows.X.fetch()
    return X.toarray() if sp.issparse(X) else X


EVERY = pytest.mark.parametrize(
    ("classes", "intercept", "sparse"),
    [(2, True, False), (2, False, True), (3, True, True), (3, False, False)],
)


@EVERY
def test_the_pairs_of_some_rows_are_those_of_all(classes, intercept, sparse):
    found, _ = scored(classes, intercept, sparse)
    ((_, whole),) = found.pairs()
    size = np.abs(whole).max()
    few = [7, 3, 59]
    np.testing.assert_allclose(found.pairs(few), whole[few], atol=1e-9 * size)
    np.testing.assert_allclose(found.pairs(few).sum(axis=1), found.phi[few], atol=1e-8 * size)
    narrow = replace(found, tuning=Norms(block=8 * 60 * 2 * classes))
    np.testing.assert_allclose(narrow.pairs(few), whole[few], atol=1e-9 * size)
    many = np.arange(60) % 2 == 0  # a mask, of more rows than are for validation
    np.testing.assert_allclose(found.pairs(many), whole[many], atol=1e-9 * size)
    assert found.pairs([]).shape == (0, 25)


def test_pairs_by_an_iterative_solver_agree_to_its_tolerance():
    exact, _ = scored(3)
    found, _ = scored(3, solver=adopt_solver("cg"), backend=TwoProducts())
    few = [0, 11]
    size = np.abs(exact.pairs(few)).max()
    np.testing.assert_allclose(found.pairs(few), exact.pairs(few), atol=1e-6 * size)


@pytest.mark.parametrize("rows", [[60], [-61], [0.5], [[1]], np.ones(3, bool), ["a"]])
def test_rows_that_are_none(rows):
    found, _ = scored()
    for ask in (found.pairs, found.explain):
        with pytest.raises(uids.UidsError, match="positions of training rows, from 0 to 59"):
            ask(rows)


@EVERY
def test_the_parts_are_those_of_the_formula_and_sum_to_phi(classes, intercept, sparse):
    found, model = scored(classes, intercept, sparse)
    rows = np.arange(20)
    X, R = dense(found.train), model.residuals(found.train)
    S = found.solution.value.reshape(-1, model.columns)
    for reason in found.explain(rows):
        i = reason.row
        expected = -X[i] * (S[:4] @ R[i])
        parts = np.zeros(4)
        parts[reason.parts.column] = reason.parts.value
        np.testing.assert_allclose(parts, expected, atol=1e-12)
        own = -float(S[4] @ R[i]) if intercept else 0.0
        assert reason.parts.intercept == pytest.approx(own, abs=1e-12)
        assert parts.sum() + reason.parts.intercept == pytest.approx(found.phi[i], abs=1e-10)
        for feature in reason.features:
            column = int(feature.name.removeprefix("column "))
            assert feature.value == X[i, column]
            assert feature.part == pytest.approx(expected[column], abs=1e-12)


def test_many_sparse_columns_have_parts_that_sum_to_phi():
    rng = np.random.default_rng(0)
    X = sp.random(300, 2000, 0.01, "csr", random_state=0)
    y = rng.integers(0, 2, 300)
    found = uids.influence("logreg", (X[:200], y[:200]), (X[200:], y[200:]))
    top = found.phi.argsort()[-9:]
    for reason in found.explain(top):
        parts = reason.parts.value.sum() + reason.parts.intercept
        assert parts == pytest.approx(found.phi[reason.row], rel=1e-6)
        assert {feature.typical for feature in reason.features} == {0.0}
        largest = reason.parts.value.max()  # no value is strange: the first has the largest part
        assert reason.features[0].part == pytest.approx(largest)


@EVERY
def test_what_is_told_of_a_row(classes, intercept, sparse):
    found, _ = scored(classes, intercept, sparse)
    ((_, whole),) = found.pairs()
    for reason in found.explain([4, 5]):
        i, pairs = reason.row, whole[reason.row]
        label = found.train.y[i]
        assert (reason.label, reason.influence) == (label, found.phi[i])
        assert reason.change == pytest.approx(-found.phi[i] / (60 * 25))
        assert reason.loo_probability == pytest.approx(found.loo_probability[i, label], abs=1e-9)
        hurts, helps = [p.row for p in reason.hurts], [p.row for p in reason.helps]
        assert hurts == [j for j in np.argsort(-pairs)[:5] if pairs[j] > 0]
        assert helps == [j for j in np.argsort(pairs)[:5] if pairs[j] < 0]
        for pair in (*reason.hurts, *reason.helps):
            assert pair.influence == pytest.approx(pairs[pair.row], abs=1e-9)
            assert pair.label == found.validation.y[pair.row]
        told = reason.as_dict()
        assert set(told) == {
            *("row", "id", "label", "influence", "change", "label_error", "suggested_label"),
            *("loo_probability", "features", "hurts", "helps", "neighbours"),
        }
        assert len(repr(reason)) < 400


@pytest.mark.parametrize("sparse", [False, True])
def test_neighbours_are_those_of_scikit_learn(sparse):
    found, _ = scored(3, sparse=sparse, d=9)
    X, y = dense(found.train), found.train.y
    kept = np.flatnonzero(np.random.default_rng(1).random(60) < 0.7)
    scale = X[kept].std(axis=0)
    if sparse:
        scale = np.sqrt((X[kept] ** 2).sum(axis=0) / (X[kept] != 0).sum(axis=0))
    for reason in found.explain(np.arange(12), kept):
        i = reason.row
        others = kept[y[kept] != y[i]]
        oracle = NearestNeighbors(n_neighbors=3).fit(X[others] / scale)
        distance, place = oracle.kneighbors(X[[i]] / scale)
        assert [near.row for near in reason.neighbours] == list(others[place[0]])
        told = [near.distance for near in reason.neighbours]
        np.testing.assert_allclose(told, distance[0], rtol=1e-9)
        assert [near.label for near in reason.neighbours] == list(y[others[place[0]]])


def test_a_twin_of_another_label_is_at_distance_0_and_there_may_be_fewer_than_three():
    X = np.vstack([np.random.default_rng(0).standard_normal((20, 3)) + 1e6, np.zeros((2, 3))])
    X[20:] = X[0]
    y = np.array([0] * 20 + [1, 1])
    found = uids.influence("logreg", (X - 1e6, y), (X - 1e6, y))
    (reason,) = found.explain([0], kept=np.arange(22))
    assert [(near.row, near.distance) for near in reason.neighbours] == [(20, 0.0), (21, 0.0)]
    (alone,) = found.explain([0], kept=np.arange(20))
    assert alone.neighbours == ()


def test_neighbours_among_many_are_looked_for_in_a_sample(monkeypatch):
    found, _ = scored()
    (exact,) = found.explain([0], kept=np.arange(60))
    monkeypatch.setattr(neighbours, "ROWS", 15)
    (sampled,) = found.explain([0], kept=np.arange(60))
    again = found.explain([0], kept=np.arange(60))[0]
    assert [near.row for near in again.neighbours] == [near.row for near in sampled.neighbours]
    assert [near.row for near in sampled.neighbours] != [near.row for near in exact.neighbours]


@pytest.mark.parametrize("classes", [2, 3])
def test_beyond_a_limit_the_first_rows_have_pairs_and_these_are_rough(classes):
    found, _ = scored(classes)
    only_probes = replace(found, tuning=Norms(ways=("probes",)))
    exact = explain(found, [4, 5, 6])
    whole = explain(found, [4, 5, 6], limit=1e9)  # within it: exact, by the inverse of H
    few = explain(only_probes, [4, 5, 6], limit=1.0)
    for one, other in zip(exact, whole, strict=True):
        assert [pair.row for pair in one.hurts] == [pair.row for pair in other.hurts]
        assert other.loo_probability == pytest.approx(one.loo_probability)
    assert few[0].hurts
    assert [reason.hurts or reason.helps for reason in few[1:]] == [(), ()]
    assert [reason.loo_probability is None for reason in few[1:]] == [True, True]
    largest = exact[0].hurts[0].influence
    assert few[0].hurts[0].influence == pytest.approx(largest, rel=0.3)
    for one, other in zip(exact, few, strict=True):  # in other blocks: but for rounding the same
        assert [f.name for f in one.features] == [f.name for f in other.features]
        parts = [[f.part for f in reason.features] for reason in (one, other)]
        np.testing.assert_allclose(*parts, rtol=1e-9)


def test_models_of_torch():
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = (X[:, 0] + rng.standard_normal(80) > 0).astype(int)
    train, validation = (X[:60], y[:60]), (X[60:], y[60:])
    linear = uids.influence("torch_logreg", train, validation, solver="direct")
    (reason,) = linear.explain([3])
    parts = reason.parts.value.sum() + reason.parts.intercept
    assert parts == pytest.approx(linear.phi[3], abs=1e-6)
    fields = {"network": "mlp", "curvature": "gauss_newton", "damping": 0.1}
    network = uids.REGISTRIES["model"].build("torch_module", **fields)
    found = uids.influence(network, train, validation, solver="direct")
    (reason,) = found.explain([3])
    assert (reason.features, reason.parts, reason.loo_probability) == ((), None, None)
    assert reason.hurts
    assert len(reason.neighbours) == 3
    np.testing.assert_allclose(found.pairs([3]).sum(axis=1), found.phi[[3]], rtol=1e-6)


def test_a_value_that_no_other_row_has_is_named_first():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = (X[:, 0] + 0.5 * rng.standard_normal(120) > 0).astype(int)
    X[:, 3] = 2.0
    X[5, 3] = 2.5
    names = ["a", "b", "c", "constant"]
    train, validation = (X[:80], y[:80]), (X[80:], y[80:])
    found = uids.influence("logreg", train, validation, features=names)
    (reason,) = found.explain([5], kept=np.arange(80))
    assert (reason.features[0].name, reason.features[0].typical) == ("constant", 2.0)
    with pytest.raises(uids.UidsError, match="1 names for 4 features"):
        uids.influence("logreg", train, validation, features=["a"])


def first_named(found, rows):
    return [reason.features[0].name if reason.features else "" for reason in found.explain(rows)]


def test_a_column_that_is_wrong_in_a_third_of_the_training_rows_is_seen_by_the_validation_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(400) > 0).astype(int)
    wrong = np.arange(0, 300, 3)
    X[wrong, 2] = 6
    train = X[:300], y[:300]
    found = uids.influence("logreg", train, (X[300:], y[300:]))
    assert first_named(found, wrong[:20]) == ["column 2"] * 20
    few = uids.influence("logreg", train, (X[370:], y[370:]))  # too few to measure by
    assert first_named(few, wrong[:20]).count("column 2") < 15


def test_a_date_is_not_the_reason_for_all_rows_where_the_validation_rows_are_later():
    rng = np.random.default_rng(1)
    X = np.c_[rng.standard_normal((600, 3)), np.arange(600) / 100]
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(600) > 0).astype(int)
    y[:450][rng.random(450) < 0.1] ^= 1
    found = uids.influence("logreg", (X[:450], y[:450]), (X[450:], y[450:]))
    assert first_named(found, found.phi.argsort()[-40:]).count("column 3") <= 4


def test_a_value_that_no_validation_row_has_is_not_strange_where_training_rows_have_it():
    rng = np.random.default_rng(2)
    X = np.c_[rng.standard_normal((500, 3)), rng.random(500) < 0.1]
    X[400:, 3] = 0
    y = (X[:, 0] + 0.5 * rng.standard_normal(500) > 0).astype(int)
    found = uids.influence("logreg", (X[:400], y[:400]), (X[400:], y[400:]))
    rows = np.flatnonzero(X[:400, 3])[:9]
    assert first_named(found, rows).count("column 3") < len(rows) / 2


def made_wrong(X, rng, kind):
    """X with one value of every tenth row changed by three spreads or more, and the column of that,
    or −1, for each row."""
    X, spread = X.copy(), X.std(axis=0)
    wrong = np.full(len(X), -1)
    beyond = 2 * X.max(axis=0) - X.min(axis=0)
    for i in rng.choice(len(X), len(X) // 10, replace=False):
        for j in rng.permutation(np.flatnonzero(spread)):
            value = {
                "noise": X[i, j] + 8 * spread[j] * rng.standard_normal(),
                "constant": beyond[j],
                "unit": 10 * X[i, j],
            }[kind]
            if abs(value - X[i, j]) >= 3 * spread[j]:
                X[i, j], wrong[i] = value, j
                break
    return X, wrong


def test_the_column_that_was_made_wrong_is_named_first_in_nine_rows_of_ten():
    named = found_rows = 0
    for load, seeds in ((load_breast_cancer, 6), (load_wine, 6), (load_digits, 2)):
        X, y = load(return_X_y=True)
        for seed, kind in product(range(100, 100 + seeds), ("noise", "constant", "unit")):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(y))[:900]
            half = len(order) // 2
            train, validation = order[:half], order[half:]
            X_train, wrong = made_wrong(X[train], rng, kind)
            mean, spread = X_train.mean(axis=0), X_train.std(axis=0)
            spread[spread == 0] = 1
            found = uids.influence(
                LogisticRegression(C=1.0),
                ((X_train - mean) / spread, y[train]),
                ((X[validation] - mean) / spread, y[validation]),
                backend="numpy",
            )
            top = found.phi.argsort()[::-1][: (wrong >= 0).sum()]
            top = [i for i in top if found.phi[i] > 0 and wrong[i] >= 0]
            for reason in found.explain(top):
                named += reason.features[0].name == f"column {wrong[reason.row]}"
            found_rows += len(top)
    assert found_rows >= 50
    assert named > 0.9 * found_rows
