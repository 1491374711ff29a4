"""What a plugin hands over is looked at where it comes in: components that are wrong in one way
each, refused in one line with the name of their package."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_rows

import uids
from uids.backends import adopt_backend
from uids.errors import UidsError
from uids.models.adopted import adopt_model
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.registry import REGISTRIES
from uids.samplers.adopted import adopt_sampler
from uids.scoring.influence import influence_at
from uids.scoring.scores import Scores
from uids.solvers import Solution
from uids.solvers.adopted import adopt_solver
from uids.solvers.cg import CG
from uids.solvers.direct import Direct

NAMED = "of package 'acme' 1.2"


@pytest.fixture
def plugin(entry_points, monkeypatch):
    """A component of this file, as the plugin 'x' of the package acme."""

    def build(kind, cls, **fields):
        cls.__module__ = "made_guards"
        monkeypatch.setitem(__import__("sys").modules, "made_guards", make_module(cls))
        entry_points(kind, "x", f"made_guards:{cls.__name__}")
        return REGISTRIES[kind].build("x", **fields)

    return build


def make_module(cls):
    module = type(uids)("made_guards")
    setattr(module, cls.__name__, cls)
    return module


def curvature(n=60, classes=2):
    rows = make_rows(n=n, classes=classes)
    return adopt_model("logreg").fit(rows).curvature(rows), rows


# Solvers.


@dataclass(frozen=True)
class Answers:
    """Solves, and then says ``what`` instead."""

    what: str = ""
    on_failure: str = "error"

    def solve(self, operator, g):
        right = CG(tol=1e-12).solve(operator, g)
        s, wrong = right.value, right.value.copy()
        wrong[..., -1:] = wrong[..., -1:] * -3 + 1  # one entry, or one column
        return {
            "right": right,
            "random": replace(right, value=np.random.default_rng(0).standard_normal(g.shape)),
            "almost": replace(right, value=wrong, relative_residual=1e-16),
            "short": replace(right, value=s[:-1]),
            "nan": replace(right, value=s * np.nan),
            "words": replace(right, relative_residual="small"),
            "hopeful": replace(right, value=s * (1 + 1e-7), relative_residual=0.0),
            "coarse": replace(right, value=s * 1.01, relative_residual=0.01),
            "honest": Solution(s * 2, "try again", 1, 1e-16),
            "useless": replace(right, value=s * 0, relative_residual=1.0),
            "none": None,
            "array": s,
        }[self.what]


@dataclass(frozen=True)
class Changes(Answers):
    def solve(self, operator, g):
        g *= 2
        return CG().solve(operator, g)


@pytest.mark.parametrize("columns", [1, 40])
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("random", r"says 'converged' with a relative residual of .*: its answer is not used"),
        ("almost", r"says 'converged' with a relative residual of 1\.0e-16, but that of the s"),
        ("short", r"gave s of shape \(.*\) where \(5.*\) is needed"),
        ("nan", r"gave s of which .* are not finite, the first at \[0"),
        ("words", r"gave a Solution whose status is 'converged' and whose relative_residual is"),
        ("useless", r"says 'converged' with a relative residual of 1\.0e\+00: that is no solution"),
        ("honest", r"says 'try again' \(solver\.on_failure=warn goes on all the same\)"),
        ("none", r"gave a NoneType where a uids\.plugin\.Solution is needed"),
        ("array", r"gave a ndarray where a uids\.plugin\.Solution is needed"),
    ],
)
def test_a_solver_that_is_not_believed(plugin, what, says, columns):
    H, rows = curvature()
    g = H.gradient(rows) + 1 if columns == 1 else np.random.default_rng(1).normal(size=(5, columns))
    with pytest.raises(UidsError, match=f"^solver 'x' {NAMED} {says}"):
        adopt_solver(plugin("solver", Answers, what=what)).solve(H, g)


@pytest.mark.parametrize("what", ["right", "hopeful", "coarse", "honest"])
def test_a_solver_whose_residual_is_made_true(plugin, what):
    H, rows = curvature()
    g = H.gradient(rows) + 1
    solver = plugin("solver", Answers, what=what, on_failure="warn")
    solution = adopt_solver(solver).solve(H, g)
    true = np.linalg.norm(g - H.dense() @ solution.value) / np.linalg.norm(g)
    assert solution.relative_residual == pytest.approx(true, rel=1e-6, abs=1e-14)
    if what != "honest":
        np.testing.assert_allclose(
            solution.scores, rows.X.fetch() @ solution.value[:-1] + solution.value[-1], rtol=1e-9
        )


def test_what_to_do_about_a_failure_is_one_of_two_words(plugin):
    H, rows = curvature()
    solver = adopt_solver(plugin("solver", Answers, what="right", on_failure="foo"))
    with pytest.raises(UidsError, match=r"^solver\.on_failure must be 'error' or 'warn'"):
        solver.solve(H, H.gradient(rows))


def test_a_solver_cannot_change_what_it_is_given(plugin):
    H, rows = curvature()
    with pytest.raises(UidsError, match=f"^solver 'x' {NAMED} failed: ValueError: .*read-only"):
        adopt_solver(plugin("solver", Changes)).solve(H, H.gradient(rows))


@dataclass(frozen=True)
class Misshapen(Answers):
    def solve(self, operator, g):
        return operator.dot(g[:-1])


def test_a_product_that_does_not_fit_is_the_fault_of_whoever_asks(plugin):
    H, rows = curvature()
    with pytest.raises(UidsError, match=f"^solver 'x' {NAMED} failed: ValueError: a product of H"):
        adopt_solver(plugin("solver", Misshapen)).solve(H, H.gradient(rows))


def test_what_a_lying_solver_says_is_never_kept(plugin, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rows = make_rows(n=120)
    with pytest.raises(UidsError, match="its answer is not used"):
        uids.run((rows.X.fetch(), rows.y), solver=plugin("solver", Answers, what="random"))
    assert not list(tmp_path.rglob("*.npz"))


@pytest.mark.parametrize("solver", ["auto", "cg", "pcg", "direct", "nystrom", "lissa"])
@pytest.mark.parametrize("columns", [1, 3])
def test_what_our_own_say_is_true(solver, columns):
    H, _ = curvature()
    g = np.random.default_rng(1).normal(size=(5,) if columns == 1 else (5, columns))
    solution = adopt_solver(solver).solve(H, g)
    R = (g - H.dense() @ solution.value).reshape(5, -1)
    true = (np.linalg.norm(R, axis=0) / np.linalg.norm(g.reshape(5, -1), axis=0)).max()
    assert solution.relative_residual == pytest.approx(true, rel=1e-3, abs=1e-14)


# Samplers.


@dataclass(frozen=True)
class Draws:
    what: str = ""

    def probabilities(self, scores):
        if self.what in ("phi", "loss", "y", "psi_norm", "gradient_norm"):
            getattr(scores, self.what).sort()
        n = len(scores.phi)
        return {
            "none": None,
            "short": np.ones(n - 1),
            "nan": np.full(n, np.nan),
            "scalar": 0.5,
            "words": ["a"] * n,
            "large": np.full(n, 1.5),
            "zeros": np.zeros(n),
        }.get(self.what, np.ones(n))

    def gradient_bound(self, scores):
        return "steep"


@pytest.fixture
def scores():
    H, rows = curvature()
    found = influence_at(H, rows, rows, adopt_solver("direct"))
    return Scores(found.phi, np.ones(len(rows)), rows.y, found)


@pytest.mark.parametrize("what", ["phi", "loss", "y", "psi_norm", "gradient_norm"])
def test_a_sampler_cannot_change_the_scores(plugin, scores, what):
    before = getattr(scores, what).copy()
    with pytest.raises(UidsError, match=f"^sampler 'x' {NAMED} failed: ValueError: .*read-only"):
        adopt_sampler(plugin("sampler", Draws, what=what)).probabilities(scores)
    assert getattr(scores, what).tolist() == before.tolist()


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("none", "gave a NoneType where probabilities, real numbers, are needed"),
        ("words", "gave a array of <U1 where probabilities, real numbers, are needed"),
        ("short", r"gave probabilities of shape \(59,\) where \(60,\) is needed"),
        ("scalar", r"gave probabilities of shape \(\) where \(60,\) is needed"),
        ("nan", "gave probabilities of which 60 of 60 are not finite"),
        ("large", r"gave probabilities outside \[0, 1\]: from 1\.5 to 1\.5"),
        ("zeros", "gave probability 0 to all 60 rows: .*"),
    ],
)
def test_a_sampler_whose_numbers_are_none(plugin, scores, what, says):
    with pytest.raises(UidsError, match=f"^sampler 'x' {NAMED} {says}"):
        adopt_sampler(plugin("sampler", Draws, what=what)).probabilities(scores)


def test_a_bound_that_is_no_number(plugin, scores):
    with pytest.raises(UidsError, match=f"^sampler 'x' {NAMED} failed: ValueError"):
        adopt_sampler(plugin("sampler", Draws)).gradient_bound(scores)


# Backends.


@dataclass(frozen=True)
class Wrong:
    what: str = ""

    def matrix(self, X):
        if self.what == "changes X":
            (X.data if sp.issparse(X) else X)[:1] *= 2
        return WrongProducts(X, self.what)


class WrongProducts:
    def __init__(self, X, what):
        self.X, self.what = X, what
        self.shape = (X.shape[0] - (what == "shape"), X.shape[1])
        if what in ("gram_dot", "square_tdot"):
            setattr(self, what, getattr(self, f"_{what}"))

    def dot(self, V):
        if self.what == "changes V":
            V *= 2
        Z = np.asarray(self.X @ V)
        if self.what == "one buffer" and V.ndim == 1:
            self.buffer = self.__dict__.get("buffer", np.empty(len(Z)))
            self.buffer[:] = Z
            return self.buffer
        return {
            "short": Z[:-1],
            "float32": Z.astype(np.float32),
            "nan": Z * np.nan,
            "none": None,
            "first row": np.concatenate([Z[:1] * 2, Z[1:]]),
        }.get(self.what, Z)

    def tdot(self, U):
        T = np.asarray(self.X.T @ U)
        return {"transpose": T[::-1], "scaled": T * 1.001}.get(self.what, T)

    def _gram_dot(self, w, V):
        return self.X.T @ (self.X @ V)

    def _square_tdot(self, W):
        return self.X.T @ W


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("shape", r"gave a matrix of shape \(\d+, 4\) for X of shape \(\d+, 4\)"),
        ("short", r"gave X V of shape \(\d+,\) where \(\d+,\) is needed"),
        ("float32", "gave X V in float32 where float64 is needed: .*"),
        ("nan", "gave X V of which .* are not finite, the first at .*"),
        ("none", "gave a NoneType where X V, real numbers, are needed"),
        ("first row", "gives a wrong X V: tried on random vectors and a few rows, .*"),
        ("transpose", "gives a wrong Xᵀ U: tried on random vectors and a few rows, .*"),
        ("scaled", "gives a wrong Xᵀ U: .*"),
        ("gram_dot", r"gives a wrong Xᵀ \(w ∘ X V\): .*"),
        ("square_tdot", r"gives a wrong \(X ∘ X\)ᵀ W: .*"),
        ("one buffer", "changes X V after it has handed it over"),
        ("changes V", "changes what it is given, in the product X V"),
        ("changes X", "failed: ValueError: .*read-only"),
    ],
)
def test_a_backend_that_is_wrong(plugin, what, says, sparse):
    X = make_rows(sparse=sparse).X.fetch()
    before = X.copy()
    matrix = adopt_backend(plugin("backend", Wrong, what=what)).matrix(X)
    with pytest.raises(UidsError, match=f"^backend 'x' {NAMED} {says}$"):
        matrix.rows(np.arange(50)).prepare()
    assert abs(X - before).sum() == 0


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (30, 1), (3000, 3), (5, 400)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_backend_that_is_right_passes(plugin, shape, dtype, sparse):
    X = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    X = sp.csr_matrix(X) if sparse else X
    matrix = adopt_backend(plugin("backend", Wrong)).matrix(X)
    matrix.prepare()
    v = np.ones(shape[1])
    np.testing.assert_array_equal(matrix.dot(v), X @ v)


def test_a_wrong_transpose_in_a_run(plugin):
    """It was told as a model that does not converge."""
    rows = make_rows(n=120)
    backend = plugin("backend", Wrong, what="transpose")
    with pytest.raises(UidsError, match=f"^backend 'x' {NAMED} gives a wrong Xᵀ U: "):
        uids.run((rows.X.fetch(), rows.y), backend=backend, cache=False)


@dataclass(frozen=True)
class Counting:
    """Counts the rows that go through its products."""

    def matrix(self, X):
        return Counted(X, "")


class Counted(WrongProducts):
    done = 0

    def dot(self, V):
        Counted.done += len(self.X) * (V.size // len(V))
        return super().dot(V)

    def tdot(self, U):
        Counted.done += len(self.X) * (U.size // len(U))
        return super().tdot(U)


def test_a_backend_is_tried_once_and_for_less_than_one_product(plugin):
    X = np.random.default_rng(0).standard_normal((4000, 3))
    Counted.done = 0
    backend = adopt_backend(plugin("backend", Counting))
    for part in (np.arange(3000), np.arange(3000, 4000)):
        backend.matrix(X).rows(part).prepare()
    assert 0 < Counted.done < 3000


# Models.


@dataclass(frozen=True)
class WrongFit(FittedLogistic):
    what: str = ""

    def losses(self, rows):
        losses = super().losses(rows)
        return {"scalar": losses.mean(), "nan": losses * np.nan}.get(self.what, losses)

    def probabilities(self, rows):
        P = super().probabilities(rows)
        return {"flat": P[:, 1], "margins": P * 3 - 1, "halves": P / 2}.get(self.what, P)

    def curvature(self, rows, weights=None):
        return WrongCurvature(self, rows, weights)


class WrongCurvature(LogisticCurvature):
    def scored_dot(self, s, scores=None):
        product, scores = super().scored_dot(s, scores)
        return (product[:-1] if self.fitted.what == "H s" else product), scores

    def dot(self, V):
        return {"H V": V[:-1], "H nan": V * np.nan}.get(self.fitted.what, super().dot(V))

    def dense(self):
        return super().dense() * (2 if self.fitted.what == "dense" else 1)

    def gradient(self, rows):
        gradient = super().gradient(rows)
        return {"gradient": gradient[:, None]}.get(self.fitted.what, gradient)

    def row_products(self, rows, S, scores=None):
        products = super().row_products(rows, S, scores)
        return products[:-1] if self.fitted.what == "products" else products

    def penalty_product(self, s):
        return np.nan if self.fitted.what == "penalty" else super().penalty_product(s)


@dataclass(frozen=True)
class WrongModel(LogisticRegression):
    what: str = ""

    def fit(self, rows, weights=None, start=None):
        fitted = super().fit(rows, weights, start)
        values = {name: getattr(fitted, name) for name in fitted.__dataclass_fields__}
        return None if self.what == "none" else WrongFit(**values, what=self.what)


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("none", "gave a NoneType where a fitted model is needed: it has no theta and no .*"),
        ("scalar", r"gave losses of shape \(\) where \(60,\) is needed"),
        ("nan", r"gave losses of which 60 of 60 are not finite, the first at \[0\]"),
        ("flat", r"gave probabilities of shape \(60,\) where \(60, 2\) is needed"),
        ("margins", "gave probabilities that are not: the smallest is -.*"),
        ("halves", "gave probabilities that are not: .* a row is up to 5.0e-01 away from 1"),
        ("H s", r"gave H V of shape \(4,\) where \(5,\) is needed"),
        ("H V", r"gave H V of shape \(4,\) where \(5,\) is needed"),
        ("H nan", "gave H V of which 5 of 5 are not finite, .*"),
        ("gradient", r"gave Σ ∇l_j of shape \(5, 1\) where \(5,\) is needed"),
        ("products", r"gave ∇l_iᵀ S of shape \(59,\) where \(60,\) is needed"),
        ("dense", r"gives two different H: dense\(\) times a vector is up to .*"),
        ("penalty", "gave ∇penaltyᵀ s of which 1 of 1 are not finite, .*"),
    ],
)
def test_a_model_that_is_wrong(plugin, what, says):
    """It was told as a failure of the solver, or as a raw IndexError."""
    model = adopt_model(plugin("model", WrongModel, what=what))
    with pytest.raises(UidsError, match=f"^model 'x' {NAMED} {says}$"):
        asked_for_all(model, make_rows())


def asked_for_all(model, rows):
    fitted = model.fit(rows)
    fitted.losses(rows), fitted.probabilities(rows)
    H = fitted.curvature(rows)
    H.dot(np.ones(5)), H.dense()
    return influence_at(H, rows, rows, adopt_solver("cg")).identity_error


def test_a_model_that_is_right_passes(plugin):
    rows = make_rows(classes=3)
    fitted = adopt_model(plugin("model", WrongModel)).fit(rows)
    found = influence_at(fitted.curvature(rows), rows, rows, adopt_solver("direct"))
    ours = LogisticRegression().fit(rows)
    right = influence_at(ours.curvature(rows), rows, rows, adopt_solver(Direct()))
    np.testing.assert_allclose(found.phi, right.phi, rtol=1e-9, atol=1e-12)
    assert fitted.probabilities(rows).tolist() == ours.probabilities(rows).tolist()


# Data sets.


@dataclass(frozen=True)
class WrongData:
    def load(self):
        return np.array([[1.0, np.nan], [2.0, 3.0]]), [0, 1]


def test_a_data_set_is_told_with_its_package(plugin):
    says = "X holds values that are not finite, the first in row 0; remove or fill them"
    with pytest.raises(UidsError, match=f"^dataset 'x' {NAMED}: {says}$"):
        uids.run(dataset=plugin("dataset", WrongData))
