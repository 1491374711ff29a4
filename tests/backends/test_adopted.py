"""The door of the backends: what an object of anyone's can do beyond two products is used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from matrices import D, N, check, values
from problems import Bare, Viewing

import uids
from uids.backends import adopt
from uids.backends.adopted import GuardedMatrix
from uids.backends.backend import Backend
from uids.backends.handed import all_finite
from uids.backends.numpy import Numpy, NumpyMatrix


@pytest.fixture(params=[True, False], ids=["sparse", "dense"])
def plain(request):
    return sp.csr_matrix(values()) if request.param else values()


class Able(Bare):
    """Says what it can do beyond the two products, and is asked."""

    threads = "auto"  # of its own, and nobody else's business
    note = "able"

    def __init__(self, X, seen):
        super().__init__(X)
        self.seen = seen

    def gram_dot(self, w, V):
        self.seen.append("gram_dot")
        return self._X.T @ (w * (self._X @ V).T).T

    def outer_dot(self, u):
        self.seen.append("outer_dot")
        product = self._X @ (self._X.T @ u)
        product.flags.writeable = False
        return product

    def uses_blas(self, columns):
        return columns > 5


def ables(seen):
    @dataclass(frozen=True)
    class Ables:
        def matrix(self, X):
            return Able(X, seen)

    return Ables()


def test_what_an_adopted_matrix_can_do_is_used(plain):
    seen = []
    matrix = adopt(ables(seen), plain)
    check(matrix, plain)
    assert set(seen) == {"gram_dot", "outer_dot"}
    assert matrix.threads == 1
    assert [matrix.uses_blas(columns) for columns in (1, 6)] == [False, True]
    matrix.prepare()
    assert matrix.note == "able"


def test_threads_of_a_plugin_are_its_own_business(plain):
    seen = []
    y = np.arange(N) % 2
    one, other = (
        uids.run((plain, y), backend=backend, solver="cg", repeats=1, cache=False)
        for backend in (Numpy(), ables(seen))
    )
    assert "gram_dot" in seen
    assert other.metrics["backend"] == "able"
    np.testing.assert_allclose(other.influence, one.influence, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(other.kept, one.kept)


def test_a_matrix_of_views_is_made_once(plain):
    made = []

    @dataclass(frozen=True)
    class Once(Viewing):
        def matrix(self, X):
            made.append(X.shape)
            return super().matrix(X)

    whole = adopt(Once(), plain)
    assert not made  # until a product is asked for
    whole.rows(np.arange(9)).dot(np.ones(D))
    whole.rows(np.arange(9, 30)).rows(np.arange(3)).dot(np.ones(D))
    assert made == [(N, D)]


def test_matrices_of_the_full_kind_are_as_they_are_and_guarded_where_they_are_not_ours():
    class Own(Numpy):
        pass

    assert isinstance(Own(), Backend)
    assert type(adopt(Numpy(), values())) is NumpyMatrix
    others = adopt(Own(), values())
    assert type(others) is GuardedMatrix
    assert type(others.matrix) is NumpyMatrix
    check(others, values())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("numbers", "finite"),
    [([1e308] * 4, True), ([np.inf, -np.inf, 1, 1], False), ([0, np.nan, 0, 0], False)],
)
def test_the_quick_look_at_numbers_warns_of_nothing_and_is_not_misled(numbers, finite):
    for array in (np.array(numbers), np.repeat(numbers, 3)[::3], np.reshape(numbers, (2, 2)).T):
        assert all_finite(array) is finite
