"""The guard: the full set stays unless a gain is beyond its uncertainty."""

import numpy as np

from uids.selection.guard import Judged, explain, guarded, rows_needed, upper_bound
from uids.selection.settings import ChooseSettings


def judged(differences, ratio=0.9):
    return Judged(ratio, None, np.asarray(differences, dtype=float))


def test_the_guard_wants_a_gain_beyond_its_uncertainty():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(400)
    settings = ChooseSettings()
    small, large = judged(noise - noise.mean() - 0.01), judged(noise - noise.mean() - 0.5, 0.8)
    assert guarded([small], settings) is None
    assert guarded([small, large], settings) is large
    assert guarded([judged(noise)], settings) is None
    assert guarded([], settings) is None
    # The smallest mean of those that pass, not the smallest of all.
    wild = judged(np.where(np.arange(400) == 0, -1000.0, 0.0), 0.5)
    assert wild.mean < large.mean
    assert guarded([wild, large], settings) is large


def test_the_guard_is_stricter_with_few_rows():
    """The same differences, seen in 30 rows or in 3,000: rows that were not seen could outweigh
    a gain of the first."""
    from scipy.stats import t

    differences = np.tile([-0.3, 0.1, 0.1, -0.1, 0.0], 6)
    assert upper_bound(differences, 0.1) > 0
    assert upper_bound(np.tile(differences, 100), 0.1) < 0
    mean, error = differences.mean(), differences.std(ddof=1) / np.sqrt(30)
    assert mean + t.ppf(0.9, 29) * error < 0  # which the plain interval would have let pass


def test_by_chance_alone_the_full_set_stays():
    rng = np.random.default_rng(1)
    settings = ChooseSettings()
    passed = {
        m: np.mean(
            [
                guarded([judged(rng.standard_t(3, m)) for _ in range(3)], settings) is not None
                for _ in range(300)
            ]
        )
        for m in (30, 300)
    }
    assert passed[30] < 0.01
    assert passed[300] < 0.2


def test_the_reason_says_when_the_rows_are_too_few():
    settings = ChooseSettings()
    differences = np.tile([-0.3, 0.1, 0.1, -0.1, 0.0], 6)
    few = explain([judged(differences)], None, settings, loss=0.5)
    assert "the full set stays" in few
    assert "30 validation rows are too few to tell" in few
    needed = rows_needed(judged(differences), settings.level)
    assert upper_bound(np.tile(differences, needed // 30), settings.level) < 0 < needed
    assert "no candidate lowers" in explain([judged(-differences)], None, settings, loss=0.5)
    tiny = explain([judged(0.001 * differences)], None, settings, loss=0.5)
    assert tiny.endswith("within chance")
    many = judged(np.tile(differences, 100))
    assert explain([many], many, settings, 0.5).startswith("ratio=0.9 lowers the held-out")
    assert "no smaller subset could be fitted" in explain([], None, settings, 0.5)
