"""Which way to solve is planned, that it is taken, and that a plan makes no product."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_rows

from uids.backends import adopt
from uids.backends.numba import Numba
from uids.backends.numpy import Numpy, NumpyMatrix
from uids.models import Rows
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.fitted import FittedLogistic
from uids.solvers.adopted import adopt_solver
from uids.solvers.auto import DIRECT, FEW, PRECONDITIONED, RACE, ROW_SPACE, Auto, planned
from uids.system.tuning import PRECONDITIONING, SOLVER_CHOICE

PRODUCTS = (
    *("dot", "tdot", "gram_dot", "scored_dot", "outer_dot", "square_tdot"),
    *("gram", "quadratic", "row_squares", "fetch"),
)


class Spy(NumpyMatrix):
    """Counts whatever is more than a fact."""

    def __init__(self, X):
        super().__init__(X)
        self.seen = []

    def __getattribute__(self, name):
        if name in PRODUCTS:
            self.seen.append(name)
        return super().__getattribute__(name)


def sparse(n, d, density, ones=False):
    X = sp.random(n, d, density, "csr", rng=np.random.default_rng(0))
    if ones:
        X.data[:] = 1
    return X


def dense(n, d):
    return np.random.default_rng(0).standard_normal((n, d))


def curvature_of(X, classes=2, intercept=True, tuning=PRECONDITIONING):
    rng = np.random.default_rng(1)
    size = (X.shape[1] + intercept) * (1 if classes == 2 else classes)
    fitted = FittedLogistic(rng.standard_normal(size) * 0.1, classes, 0.1, intercept)
    rows = Rows(Spy(X), rng.integers(0, classes, X.shape[0]), classes)
    return LogisticCurvature(fitted, rows, tuning=tuning)


WITH_HEAD = replace(PRECONDITIONING, head_entries=1)
CASES = {
    "small dense": (curvature_of(dense(200, 10)), DIRECT, "direct: 11 parameters"),
    "small sparse": (curvature_of(sparse(200, 10, 0.5)), DIRECT, "direct: 11 parameters"),
    "tall dense": (curvature_of(dense(2400, 200)), PRECONDITIONED, "the Hessian of some rows"),
    "not so tall": (curvature_of(dense(2399, 200)), DIRECT, "direct: 201 parameters"),
    "wide sparse": (curvature_of(sparse(60, 1200, 0.1)), ROW_SPACE, "the space of the 60 rows"),
    "wide text": (curvature_of(sparse(60, 1200, 0.02)), ROW_SPACE, "the space of the 60 rows"),
    "wide ones": (curvature_of(sparse(60, 1200, 0.02, True)), PRECONDITIONED, "; the mixed diag"),
    "long-tailed": (curvature_of(sparse(3000, 400, 0.02)), PRECONDITIONED, "; the mixed diagonal"),
    "one-hot": (
        curvature_of(sparse(3000, 400, 0.02, True), tuning=WITH_HEAD),
        PRECONDITIONED,
        "; a block for the largest columns, else the mixed diagonal",
    ),
    "wide dense": (curvature_of(dense(80, 1200)), RACE, "cg or pcg, whichever is ahead after 10"),
    "softmax": (curvature_of(dense(300, 400), classes=3), RACE, "cg or pcg, whichever is ahead"),
    "long-tailed softmax": (
        curvature_of(sparse(3000, 400, 0.02), classes=3),
        PRECONDITIONED,
        "; the mixed diagonal",
    ),
}


@pytest.mark.parametrize(("curvature", "way", "words"), CASES.values(), ids=CASES)
def test_the_way_that_is_planned_is_taken(curvature, way, words):
    seen = curvature.over.X.seen
    seen.clear()
    plan = planned(curvature)
    assert (plan.way, adopt_solver("auto").plan(curvature)) == (way, plan.note)
    assert words in plan.note
    assert not seen
    taken = []

    class Watched(LogisticCurvature):
        def dual(self):
            taken.append(ROW_SPACE)
            return super().dual()

        def preconditioner(self):
            taken.append(PRECONDITIONED)
            return super().preconditioner()

        def dense(self):
            taken.append(DIRECT)
            return super().dense()

    watched = Watched(curvature.fitted, curvature.over, tuning=curvature.tuning)
    g = np.random.default_rng(2).standard_normal(curvature.size)
    if curvature.fitted.classes > 2:
        g[-3:] -= g[-3:].mean()
    solution = Auto().solve(watched, g)
    assert solution.converged
    assert taken == ([] if way == RACE else [way])
    if way == RACE:
        assert solution.note.startswith(("cg: ", "pcg: "))
    else:
        assert solution.note == plan.note
    assert seen  # the spy does see


def test_several_right_hand_sides_have_a_plan_of_their_own():
    curvature = CASES["wide text"][0]
    G = np.random.default_rng(2).standard_normal((curvature.size, FEW + 1))
    plan = planned(curvature, columns=FEW + 1)
    assert plan.way == PRECONDITIONED
    many = Auto().solve(curvature, G)
    assert many.note == plan.note
    # A few are solved one by one, in the space of the rows.
    few = Auto().solve(curvature, G[:, :3])
    assert few.note == planned(curvature).note
    assert few.converged
    np.testing.assert_allclose(few.value, many.value[:, :3], rtol=1e-6, atol=1e-9)


def test_ways_tried_in_vain_are_not_planned_again():
    curvature = CASES["wide text"][0]
    ways = [ROW_SPACE, PRECONDITIONED, RACE]
    for count, way in enumerate(ways):
        assert planned(curvature, without=tuple(ways[:count])).way == way
    few = replace(SOLVER_CHOICE, row_iterations=2)
    g = np.random.default_rng(2).standard_normal(curvature.size)
    solution = Auto().solve(curvature, g, tuning=few)
    assert solution.converged
    assert solution.note.startswith("pcg with the model's own preconditioner")
    assert "before that cg in the space of the 60 rows" in solution.note


def test_the_numbers_of_the_choice_can_be_handed_in():
    curvature = CASES["small dense"][0]
    assert planned(curvature, tuning=replace(SOLVER_CHOICE, direct_size=10)).way == RACE
    assert planned(curvature, tuning=replace(SOLVER_CHOICE, direct_products=0)).way == RACE


@pytest.mark.parametrize("classes", [2, 3])
def test_only_products_by_the_threads_of_blas_are_said_to_need_them(classes):
    """numba's are by threads of its own, also those that hand small blocks to BLAS."""
    X = np.random.default_rng(0).standard_normal((60, 4))
    columns = 1 if classes == 2 else classes
    for backend, form, needed in (
        (Numba(threads=1), X, False),
        (Numba(threads=1), sp.csr_matrix(X), False),
        (Numpy(), X, True),
    ):
        rows = Rows(adopt(backend, form), make_rows(classes=classes).y, classes)
        curvature = FittedLogistic(np.zeros(4 * columns), classes, 1.0, False).curvature(rows)
        assert (curvature.uses_blas(1), curvature.uses_blas(5)) == (needed, needed)
