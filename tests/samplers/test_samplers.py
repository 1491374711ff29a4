from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from uids.registry import REGISTRIES
from uids.samplers.adopted import adopt_sampler
from uids.samplers.dropout import Dropout
from uids.samplers.linear import Linear
from uids.samplers.local_case_control import LocalCaseControl
from uids.samplers.mmse import MMSE
from uids.samplers.mvc import MVC
from uids.samplers.optimal import Optimal
from uids.samplers.sigmoid import Sigmoid

PHI = np.array([-3.0, 2.0, 0.0, 5.0, -1.0])


def pi(sampler, phi=PHI):
    return sampler.probabilities(SimpleNamespace(phi=np.asarray(phi, dtype=float)))


def test_sigmoid_formula():
    np.testing.assert_allclose(pi(Sigmoid(alpha=4)), 1 / (1 + np.exp(4 * PHI / 8)), rtol=1e-14)
    assert pi(Sigmoid(alpha=1e6))[3] == 0  # no overflow


def test_sigmoid_of_hardly_any_influence():
    tiny = 2.5e-308
    np.testing.assert_allclose(pi(Sigmoid(), [tiny, 0]), [1 / (1 + np.exp(10)), 0.5], rtol=1e-14)
    np.testing.assert_array_equal(pi(Sigmoid(), [0, 0]), [0.5, 0.5])
    scores = SimpleNamespace(phi=np.zeros(3))
    assert adopt_sampler("sigmoid").gradient_bound(scores) == np.inf
    assert adopt_sampler("linear").gradient_bound(scores) == np.inf


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


def seen(**numbers):
    return SimpleNamespace(**{name: np.asarray(value, float) for name, value in numbers.items()})


def test_weighted_samplers():
    norms = [0.002, 1.0, 4.0]
    for sampler in (Optimal(), MMSE()):
        np.testing.assert_allclose(sampler.probabilities(seen(psi_norm=norms)), [0.01, 0.25, 1])
    np.testing.assert_allclose(
        Optimal(lam=0.5, floor=0.1).probabilities(seen(psi_norm=norms)), [0.1, 0.5, 1]
    )
    np.testing.assert_allclose(MVC().probabilities(seen(gradient_norm=norms)), [0.01, 0.25, 1])
    p = np.array([0.999, 0.6, 0.2])
    np.testing.assert_allclose(
        LocalCaseControl().probabilities(seen(loss=-np.log(p))), [0.01, 0.4, 0.8]
    )
    for cls in (Optimal, MMSE, MVC, LocalCaseControl):
        assert cls.weighted
        with pytest.raises(ValueError, match="floor must be"):
            cls(floor=0.0)
        assert (
            (pi := cls().probabilities(seen(psi_norm=[0], gradient_norm=[0], loss=[0]))) > 0
        ).all()
        assert pi[0] == 0.01


@pytest.mark.parametrize("cls", [Sigmoid, Linear])
@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan"), float("inf")])
def test_alpha_must_be_positive(cls, alpha):
    with pytest.raises(ValueError, match="alpha must be positive"):
        cls(alpha=alpha)
