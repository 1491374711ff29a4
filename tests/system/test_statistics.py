"""What stands in uids to spare a run the import of scipy.stats, against scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest

from uids.system.statistics import p_larger, p_larger_shuffled


@pytest.mark.parametrize(("first", "second"), [(2, 2), (5, 40), (300, 7)])
def test_welch_against_scipy(first, second):
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(first)
    for shift in (-1.0, 0.0, 0.3, 3.0):
        values, others = rng.normal(shift, 2, first), rng.normal(0, 0.5, second)
        right = ttest_ind(values, others, equal_var=False, alternative="greater").pvalue
        assert p_larger(values, others) == pytest.approx(right, rel=1e-12)


def test_welch_of_constants():
    assert p_larger([1.0, 1.0], [0.0, 0.0]) == 0
    assert p_larger([0.0, 0.0], [1.0, 1.0]) == 1
    assert np.isnan(p_larger([1.0, 1.0], [1.0, 1.0]))


def test_shuffling_is_scipys_permutation_test():
    from scipy.stats import permutation_test

    rng = np.random.default_rng(0)
    for shift in (0.0, 0.1, 0.4):
        values, others = rng.exponential(1, 40) + shift, rng.exponential(1, 12)
        right = permutation_test(
            (values, others),
            lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
            alternative="greater",
            n_resamples=20_000,
            vectorized=True,
            rng=rng,
        ).pvalue
        found = p_larger_shuffled(values, others)
        assert found == p_larger_shuffled(values, others)
        assert found == pytest.approx(right, abs=0.04)
    assert p_larger_shuffled([1.0, 1.0, 1.0], [1.0, 1.0]) == 1
