"""What influence costs: passes over X, and memory."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_rows

from uids.backends import adopt
from uids.backends.numpy import Numpy
from uids.models import Rows
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.registry import REGISTRIES
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver
from uids.solvers.cg import CG
from uids.system.tuning import Norms


class Counted(Numpy):
    """Counts the passes over X in its ``seen``."""

    def matrix(self, X):
        kernel, seen = super().matrix(X), self.seen

        def counted(name):
            product = getattr(kernel, name)
            return lambda V: seen.append(name) or product(V)

        kernel.dot, kernel.tdot = counted("dot"), counted("tdot")
        return kernel


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("solver", ["direct", "cg", "auto"])
@pytest.mark.parametrize("d", [6, 1500])
def test_the_residual_of_the_solve_leaves_the_scores_of_the_rows(solver, intercept, d):
    """φ takes no pass over X beyond those of the solve, and is the same."""
    backend = Counted()
    object.__setattr__(backend, "seen", [])
    wide = solver == "auto" and d == 1500  # in the space of the rows
    rows = make_rows(n=80, d=d, sparse=wide, backend=backend)
    rng = np.random.default_rng(0)
    model = FittedLogistic(rng.standard_normal(d + intercept) * 0.1, 2, 0.5, intercept)
    curvature, solver = model.curvature(rows), adopt_solver(solver)
    assert (curvature.dual() is not None) == wide
    gradient = curvature.gradient(rows)
    curvature.dot(gradient)  # which makes what the curvature keeps
    before = len(backend.seen)
    solution = solver.solve(curvature, gradient)
    passes = len(backend.seen) - before
    before = len(backend.seen)
    found = influence_at(curvature, rows, rows, solver)
    assert len(backend.seen) - before == passes + 2  # of the validation rows, for the gradient
    assert found.solution.scores is None
    assert solution.scores is not None
    assert replace(solution, value=solution.value + 1).scores is None  # they are not of that s
    expected = -curvature.row_products(rows, solution.value)
    np.testing.assert_allclose(found.phi, expected, atol=1e-12 * np.abs(expected).max())
    other = rows.take(np.arange(30))  # other rows than those of H
    np.testing.assert_allclose(
        influence_at(curvature, other, rows, solver).phi,
        -curvature.row_products(other, solution.value),
        atol=1e-12,
    )


def test_many_classes_stay_in_bounded_memory():
    train, validation = make_rows(n=2000, d=5, classes=20), make_rows(n=60, d=5, classes=20)
    model = LogisticRegression().fit(train)
    found = influence_at(model.curvature(train), train, validation, adopt_solver(CG(tol=1e-4)))
    found = replace(found, tuning=Norms(block=2**20))
    tracemalloc.start()
    for _ in found.pairs():
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20


@pytest.mark.parametrize("shape", ["dense", "sparse"])
def test_memory_stays_below_the_data(shape):
    """φ on problems of real size, beyond the data's own bytes."""
    rng = np.random.default_rng(0)
    if shape == "dense":
        n, d = 200_000, 300
        X = rng.standard_normal((n, d))
        own = X.nbytes
    else:
        n, d, width = 300_000, 1_000_000, 30
        indices = rng.integers(0, d, n * width, dtype=np.int32)
        X = sp.csr_matrix(
            (np.ones(n * width), indices, np.arange(0, n * width + 1, width, dtype=np.int32)),
            shape=(n, d),
        )
        own = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    y = rng.integers(0, 2, n)
    train = Rows(adopt(Numpy(), X), y, 2)
    validation = Rows(adopt(Numpy(), X[:1000]), y[:1000], 2)
    model = FittedLogistic(0.01 * rng.standard_normal(d + 1), 2, 0.1, intercept=True)
    for solver in ("pcg", "auto"):
        component = adopt_solver(REGISTRIES["solver"].build(solver, tol=1e-3))
        tracemalloc.start()
        influence_at(model.curvature(train), train, validation, component)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # The sparse problem's own vectors of a million features are most of it; for the dense one
        # a quarter of the data would already be a copy of some part of it.
        limit = 0.25 if shape == "dense" else 1.5
        assert peak < limit * own, f"{solver}: {peak / own:.2f} times the data"
