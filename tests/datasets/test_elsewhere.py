"""Rows that a data set leaves where they lie, and a backend that takes them."""

from dataclasses import dataclass

import numpy as np
import pytest

import uids
from uids.backends.numpy import Numpy
from uids.errors import UidsError
from uids.plugin import Backend, Data, Elsewhere


class Far(Elsewhere):
    sparse, backend, where = False, "far", "far away"

    def __init__(self, X, infinite=None):
        self.X, self.shape, self.dtype, self.infinite = X, X.shape, X.dtype, infinite

    def fetch(self, index):
        return self.X[index]


@dataclass(frozen=True)
class Takes(Backend):
    def matrix(self, X):
        return Numpy().matrix(X.X if isinstance(X, Far) else X)

    def takes(self, X):
        return isinstance(X, Far)


def rows(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@dataclass(frozen=True)
class Leaves:
    infinite: int | None = None

    def load(self):
        return rows()

    def load_for(self, backend):
        X, y = rows()
        return Data(Far(X, self.infinite), y)


def test_a_run_of_rows_elsewhere_is_that_of_the_same_rows_here():
    ours = uids.run(Leaves(), backend=Takes(), repeats=1, cache=False)
    right = uids.run(rows(), backend="numpy", repeats=1, cache=False)
    np.testing.assert_allclose(ours.influence, right.influence, rtol=1e-12)
    np.testing.assert_array_equal(ours.kept, right.kept)


def test_a_backend_that_does_not_take_them_says_which_does():
    with pytest.raises(
        UidsError, match=r"lie far away, and backend 'numpy' does not .* backend=far"
    ):
        uids.run(Leaves(), backend="numpy", repeats=1, cache=False)


def test_a_value_that_is_not_finite_is_named_by_its_row():
    with pytest.raises(UidsError, match="not finite, the first in row 17"):
        uids.run(Leaves(infinite=17), backend=Takes(), repeats=1, cache=False)


@pytest.mark.parametrize("kind", ["region", "features"])
def test_noise_that_looks_at_x_is_refused(kind):
    with pytest.raises(UidsError, match=f"noise_kind={kind} looks at X, and the rows lie far away"):
        uids.run(Leaves(), backend=Takes(), noise=0.2, noise_kind=kind, cache=False)
