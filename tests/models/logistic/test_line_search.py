"""How far to go along a direction, and the objective on the way."""

import numpy as np
import pytest

from uids.models.logistic.line_search import search
from uids.models.logistic.losses import losses


@pytest.mark.parametrize("classes", [2, 3])
def test_losses_do_not_depend_on_threads_but_for_rounding(classes):
    rng, k = np.random.default_rng(0), 1 if classes == 2 else classes
    Z, U, y = (
        rng.standard_normal((1000, k)),
        rng.standard_normal((1000, k)),
        rng.integers(0, k, 1000),
    )
    weights, found = rng.random(1000), []
    for threads in (1, 2, 3, 40):
        P = np.full((1000, k), np.nan)
        found.append((*losses(Z, U, 0.5, y, weights, P, threads, chunk=64), P.sum()))
    np.testing.assert_allclose(found[1:], [found[0]] * 3, rtol=1e-13)


def test_the_search_takes_what_brings_enough():
    def parabola(t):
        return (t - 1) ** 2, 2 * (t - 1)

    assert search(parabola, 1.0, -2.0) == (1.0, 0.0)
    # Four times too far: the slopes of a parabola give its lowest point at once.
    t, value = search(lambda t: ((4 * t - 1) ** 2, 8 * (4 * t - 1)), 1.0, -8.0)
    assert (t, value) == (0.25, 0.0)
    # Not finite at first.
    t, value = search(lambda t: parabola(t) if t < 0.5 else (np.inf, np.nan), 1.0, -2.0)
    assert value < 1
    # The objective is rounded away and even rises a little; the slope is what tells.
    blurred = search(lambda t: (1e9 + 1e-6, 1e-12 * (t - 1)), 1e9, -1e-12)
    assert blurred is not None
    assert search(lambda t: (1e9 + 1e-6, 1e-12), 1e9, -1e-12) is None
    assert search(parabola, 1.0, 0.0) is None
    assert search(lambda t: (2.0, 1.0), 1.0, -1.0) is None
