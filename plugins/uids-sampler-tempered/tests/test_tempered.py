from types import SimpleNamespace

import numpy as np
import pytest
from uids_sampler_tempered import Tempered


def scores(phi):
    return SimpleNamespace(phi=np.asarray(phi, dtype=float))


PHI = np.random.default_rng(0).standard_cauchy(200)  # long tails: the case it is made for


def test_the_formula():
    pi = Tempered(temperature=0.2, cut=0.7).probabilities(scores([3.0, -1.0]))
    expected = 1 / (1 + np.exp((np.array([0.75, 0.25]) - 0.7) / 0.2))
    np.testing.assert_allclose(pi, expected, rtol=1e-14)


def test_probability_falls_as_influence_rises():
    pi = Tempered().probabilities(scores(PHI))
    assert ((pi >= 0) & (pi <= 1)).all()
    assert (np.diff(pi[np.argsort(PHI)]) < 0).all()


def test_cold_is_dropout_and_hot_is_random():
    cold = Tempered(temperature=1e-9, cut=0.8).probabilities(scores(PHI))
    smallest = np.zeros(200)
    smallest[np.argsort(PHI)[:160]] = 1
    np.testing.assert_array_equal(cold, smallest)
    hot = Tempered(temperature=1e9).probabilities(scores(PHI))
    np.testing.assert_allclose(hot, 0.5, atol=1e-8)


def test_an_outlier_changes_nothing_for_the_others():
    stretched = PHI.copy()
    stretched[PHI.argmax()] = 1e12
    np.testing.assert_array_equal(
        Tempered().probabilities(scores(PHI)), Tempered().probabilities(scores(stretched))
    )


@pytest.mark.parametrize("fields", [{"temperature": 0.0}, {"cut": 1.0}, {"cut": float("nan")}])
def test_values_out_of_range_are_refused(fields):
    with pytest.raises(ValueError, match="must be"):
        Tempered(**fields)


def test_it_passes_the_checks_of_samplers():
    testing = pytest.importorskip("uids.testing", reason="this uids has no checks")
    for sampler in (Tempered(), Tempered(temperature=1e-9), Tempered(temperature=10.0, cut=0.5)):
        testing.check_sampler(sampler)


def test_it_runs_by_name():
    uids = pytest.importorskip("uids")
    clean = uids.run(sampler="tempered", noise=0.3, ratio=0.7, repeats=2)
    assert clean.metrics["config"]["sampler"] == {
        "name": "tempered",
        "temperature": 0.1,
        "cut": 0.9,
    }
    assert clean.metrics["subset"]["test"]["logloss"] < clean.metrics["full"]["test"]["logloss"]
