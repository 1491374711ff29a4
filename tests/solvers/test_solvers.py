"""Solvers on operators that are nothing but matrices: they know no model."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uids.errors import UidsError
from uids.registry import REGISTRIES
from uids.solvers import residual
from uids.solvers.auto import Auto
from uids.solvers.cg import CG
from uids.solvers.direct import Direct
from uids.solvers.lissa import LiSSA
from uids.solvers.nystrom import Nystrom
from uids.solvers.pcg import PCG
from uids.system.tuning import SOLVER_CHOICE

ITERATIVE = replace(SOLVER_CHOICE, direct_size=0)
EXACT = ["auto", "cg", "direct", "nystrom", "pcg"]


class Given:
    """H = XᵀX/n + ridge I, with each row's share known."""

    def __init__(self, X, ridge=0.1):
        self.X, self.ridge = X, ridge
        self.rows, self.size = X.shape
        self.scale = 1 / ridge
        self.products = 0

    def dot(self, V):
        self.products += 1
        return self.X.T @ (self.X @ V) / self.rows + self.ridge * V

    def dense(self):
        return self.X.T @ self.X / self.rows + self.ridge * np.eye(self.size)

    def diagonal(self):
        return (self.X**2).mean(axis=0) + self.ridge

    def dot_rows(self, V, index):
        some = self.X[index]
        return some.T @ (some @ V) / len(index) + self.ridge * V


def problem(n=200, d=30, seed=0, ridge=0.1, decay=1.0):
    rng = np.random.default_rng(seed)
    operator = Given(rng.standard_normal((n, d)) * decay ** np.arange(d), ridge)
    return operator, rng.standard_normal(d)


@pytest.mark.parametrize("name", EXACT)
@settings(deadline=None, max_examples=25)
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 40),
    seed=st.integers(0, 99),
    ridge=st.floats(1e-3, 10),
    several=st.booleans(),
)
def test_the_solution_is_numpys(name, n, d, seed, ridge, several):
    operator, g = problem(n, d, seed, ridge)
    if several:
        g = np.stack([g, -2 * g, np.arange(d, dtype=float), np.zeros(d)], axis=1)
    found = REGISTRIES["solver"].build(name).solve(operator, g)
    expected = np.linalg.solve(operator.dense(), g)
    assert found.status == "converged"
    assert found.value.shape == g.shape
    assert np.linalg.norm(found.value - expected) <= 1e-6 * np.linalg.norm(expected) + 1e-12
    assert found.relative_residual == residual(operator, found.value, g)[1]


@pytest.mark.parametrize("name", ["auto", "cg", "nystrom", "pcg"])
def test_the_residual_is_the_true_one_and_rises_when_cut_short(name):
    operator, g = problem(ridge=1e-3)
    fields = {"rank": 2} if name == "nystrom" else {}
    handed = {"tuning": replace(ITERATIVE, pilot=1)} if name == "auto" else {}
    whole = REGISTRIES["solver"].build(name, **fields).solve(operator, g, **handed)
    short = REGISTRIES["solver"].build(name, max_iter=3, **fields).solve(operator, g, **handed)
    assert whole.relative_residual <= 1e-10
    assert short.relative_residual > 1e-3
    assert short.relative_residual == pytest.approx(
        np.linalg.norm(g - operator.dense() @ short.value) / np.linalg.norm(g)
    )
    assert not short.converged
    assert "raise solver.max_iter or solver.tol" in short.status


def test_the_true_residual_is_met_where_the_recursion_alone_would_stop_early():
    """Ill-conditioned, so that the recursion's residual falls below the true one."""
    rng = np.random.default_rng(0)
    operator = Given(rng.standard_normal((300, 120)) * np.logspace(0, -5, 120), ridge=1e-10)
    g = rng.standard_normal(120)
    found = CG(tol=1e-8, max_iter=50_000).solve(operator, g)
    true = np.linalg.norm(g - operator.dense() @ found.value) / np.linalg.norm(g)
    assert found.relative_residual == pytest.approx(true, rel=1e-3)
    assert found.converged == (true <= 1e-8)


@pytest.mark.parametrize("cls", [CG, PCG, Nystrom, Auto, Direct, LiSSA])
def test_a_matrix_that_is_not_positive_definite_is_named(cls):
    class Indefinite(Given):
        def dot(self, V):
            return (np.array([1.0, -1.0]) * V.T).T

        def dot_rows(self, V, index):
            return self.dot(V)

        def dense(self):
            return np.diag([1.0, -1.0])

        def diagonal(self):
            return np.ones(2)

    solver, handed = cls(), {"tuning": ITERATIVE} if cls is Auto else {}
    with pytest.raises(UidsError, match="the Hessian is not positive definite"):
        solver.solve(Indefinite(np.ones((3, 2))), np.array([1.0, 2.0]), **handed)


@pytest.mark.parametrize("cls", [CG, PCG, Nystrom, Auto, Direct, LiSSA])
def test_what_is_not_finite_stops_at_the_source(cls):
    class NotFinite(Given):
        def dot(self, V):
            return np.full_like(V, np.nan)

        def dot_rows(self, V, index):
            return self.dot(V)

        def dense(self):
            return np.full((2, 2), np.nan)

    with pytest.raises(UidsError, match="not finite"):
        cls().solve(NotFinite(np.ones((3, 2))), np.ones(2))


def test_direct_refuses_what_does_not_fit():
    class Huge:
        size = 10_000_000

    with pytest.raises(UidsError, match=r"would need 2,980,232.2 GiB for 10,000,000 parameters"):
        Direct().solve(Huge(), np.ones(2))


def test_jacobi_helps_where_scales_differ_and_alpha_0_is_cg():
    rng = np.random.default_rng(0)
    operator = Given(rng.standard_normal((500, 60)) * np.logspace(0, 2, 60), ridge=1.0)
    g = rng.standard_normal(60)
    plain, none = CG().solve(operator, g), PCG(alpha=0).solve(operator, g)
    assert PCG(alpha=1).solve(operator, g).iterations < plain.iterations / 3
    assert none.iterations == plain.iterations
    np.testing.assert_array_equal(none.value, plain.value)


def test_nystrom_takes_the_large_eigenvalues_out_of_the_way():
    operator, g = problem(n=400, d=200, ridge=1e-4, decay=0.9)
    plain = CG().solve(operator, g)
    assert Nystrom(rank=80).solve(operator, g).iterations < plain.iterations / 3
    assert Nystrom(rank=999).solve(operator, g).converged  # more than there are


def test_auto_says_what_it_chose_and_why():
    operator, g = problem()
    assert Auto().solve(operator, g).note.startswith("direct: 30 parameters")
    rng = np.random.default_rng(0)
    steep = Given(rng.standard_normal((500, 60)) * np.logspace(0, 2, 60), ridge=1.0)
    chosen = Auto().solve(steep, rng.standard_normal(60), tuning=ITERATIVE)
    assert chosen.note.startswith("pcg: 60 parameters; res")
    # One strong common direction and unequal scales: the diagonal misleads.
    common = Given(np.ones((300, 40)) * rng.random(40) * 3 + rng.random((300, 1)) * 0.01, ridge=1.0)
    chosen = Auto().solve(common, rng.standard_normal(40), tuning=ITERATIVE)
    assert chosen.converged
    assert chosen.note.startswith("cg: ")


def test_auto_counts_what_a_model_says_of_its_costs():
    operator, g = problem()
    operator.dense_cost = 1000.0
    chosen = Auto().solve(operator, g)
    assert chosen.note.startswith(("cg: ", "pcg: "))
    assert chosen.converged
    operator.diagonal_cost = 1000.0
    assert "pcg" not in Auto().solve(operator, g).note
    short = Auto(max_iter=3).solve(operator, g)
    assert short.iterations <= 4
    assert not short.converged


def test_direct_does_not_call_anything_converged():
    class Lying(Given):
        def dense(self):
            return 2 * super().dense()

    found = Direct().solve(*((Lying(np.ones((3, 2))), np.ones(2))))
    assert found.relative_residual == pytest.approx(0.5)
    assert "too ill-conditioned" in found.status
    with pytest.raises(ValueError, match="on_failure must be"):
        Direct(on_failure="shrug")


def test_what_rounding_does_not_allow_is_told():
    class Single(Given):
        def dot(self, V):
            return super().dot(V).astype(np.float32).astype(np.float64)

    rng = np.random.default_rng(0)
    found = CG().solve(Single(rng.standard_normal((50, 20))), rng.standard_normal(20))
    assert "rounding allows no more; raise solver.tol (1e-5 suits float32)" in found.status


def test_lissa_converges_and_is_honest_when_it_does_not():
    operator, g = problem(n=500)
    exact = np.linalg.solve(operator.dense(), g)
    found = LiSSA().solve(operator, g)
    assert found.converged
    assert np.linalg.norm(found.value - exact) < 0.01 * np.linalg.norm(exact)
    many = LiSSA(repeats=3, depth=300).solve(operator, np.stack([g, g], axis=1))
    assert many.converged
    np.testing.assert_allclose(many.value[:, 0], many.value[:, 1])
    short = LiSSA(max_iter=5).solve(operator, g)
    assert not short.converged
    assert short.iterations == 5
    assert short.relative_residual == residual(operator, short.value, g)[1] > 1e-3
    assert "or use solver=cg" in short.status
    with pytest.raises(UidsError, match=r"diverges with scale 0\.01: raise solver\.scale"):
        LiSSA(scale=0.01).solve(operator, g)
    np.testing.assert_array_equal(LiSSA().solve(operator, g).value, found.value)


@pytest.mark.parametrize(
    ("cls", "fields"),
    [
        (CG, {"tol": 0.0}),
        (CG, {"max_iter": 0}),
        (CG, {"on_failure": "shrug"}),
        (PCG, {"alpha": 1.5}),
        (Nystrom, {"rank": 0}),
        (LiSSA, {"scale": -1.0}),
        (LiSSA, {"batch": 0}),
        (Auto, {"tol": 2.0}),
    ],
)
def test_values_out_of_range_are_refused(cls, fields):
    with pytest.raises(ValueError, match="must be"):
        cls(**fields)
