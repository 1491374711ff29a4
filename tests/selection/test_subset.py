"""The weights of a subset's rows."""

import numpy as np

from uids.samplers.adopted import adopt_sampler
from uids.samplers.optimal import Optimal
from uids.selection.draw import Draw
from uids.selection.subset import row_weights


def test_weights_are_the_inverse_inclusion_probabilities():
    drawn = Draw(np.arange(2), np.array([0.5, 0.25]))
    np.testing.assert_allclose(row_weights(drawn, adopt_sampler("optimal")), [2 / 3, 4 / 3])
    plain = adopt_sampler(Optimal(normalise=False))
    np.testing.assert_allclose(row_weights(drawn, plain), [2, 4])
    assert row_weights(drawn, adopt_sampler("random")) is None
