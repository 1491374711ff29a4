"""What stands in uids to spare a run the import of scipy.stats, against scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest

from uids.system.statistics import p_larger


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
