from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from uids.registry import REGISTRIES
from uids.samplers.dropout import Dropout
from uids.samplers.linear import Linear
from uids.samplers.sigmoid import Sigmoid

PHI = np.array([-3.0, 2.0, 0.0, 5.0, -1.0])


def pi(sampler, phi=PHI):
    return sampler.probabilities(SimpleNamespace(phi=np.asarray(phi, dtype=float)))


def test_sigmoid_formula():
    np.testing.assert_allclose(pi(Sigmoid(alpha=4)), 1 / (1 + np.exp(4 * PHI / 8)), rtol=1e-14)
    assert pi(Sigmoid(alpha=1e6))[3] == 0  # no overflow


def test_linear_formula():
    np.testing.assert_allclose(pi(Linear()), [0.6, 0, 0, 0, 0.2], atol=1e-15)
    np.testing.assert_allclose(pi(Linear(alpha=0.5)), [1, 0, 0, 0, 0.5], atol=1e-15)


def test_dropout_ranks():
    np.testing.assert_allclose(pi(Dropout()), [1, 0.4, 0.6, 0.2, 0.8], atol=1e-15)


@pytest.mark.parametrize("name", ["dropout", "linear", "random", "sigmoid"])
@given(phi=arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e6, 1e6)))
def test_probabilities_never_rise_with_influence(name, phi):
    found = pi(REGISTRIES["sampler"].build(name), phi)
    assert found.shape == phi.shape
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found[np.argsort(phi, kind="stable")]) <= 0).all()


@pytest.mark.parametrize("cls", [Sigmoid, Linear])
@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan"), float("inf")])
def test_alpha_must_be_positive(cls, alpha):
    with pytest.raises(ValueError, match="alpha must be positive"):
        cls(alpha=alpha)
