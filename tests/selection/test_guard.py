"""The guard: nothing is dropped unless a gain is beyond its uncertainty, and C stays plain."""

from dataclasses import replace

import numpy as np

from uids.samplers.adopted import adopt_sampler
from uids.selection.candidate import Candidate, HeldOut, Judged
from uids.selection.guard import guarded, plainest, rows_needed, upper_bound
from uids.selection.reason import explain
from uids.selection.settings import ChooseSettings

BASE = Candidate(adopt_sampler("dropout"), 1.0, None, 0.1, False, 0.0)
LEVEL = 0.1


def judged(losses, ratio=0.9, C=0.1):
    losses = np.asarray(losses, dtype=float)
    held_out = HeldOut(
        losses, np.full((len(losses), 2), 0.5), np.zeros(len(losses), dtype=np.int64)
    )
    return Judged(replace(BASE, ratio=ratio, C=C), held_out)


def nothing(rows):
    return judged(np.zeros(rows), ratio=1.0)


def test_the_guard_wants_a_gain_beyond_its_uncertainty():
    rng = np.random.default_rng(0)
    noise, base = rng.standard_normal(400), nothing(400)
    small, large = judged(noise - noise.mean() - 0.01), judged(noise - noise.mean() - 0.5, 0.8)
    assert guarded([small], base, LEVEL) is None
    assert guarded([small, large], base, LEVEL) is large
    assert guarded([judged(noise)], base, LEVEL) is None
    assert guarded([], base, LEVEL) is None
    # The smallest mean of those that pass, not the smallest of all.
    wild = judged(np.where(np.arange(400) == 0, -1000.0, 0.0), 0.5)
    assert wild.mean < large.mean
    assert guarded([wild, large], base, LEVEL) is large


def test_a_model_that_is_sure_of_itself_has_more_to_lose_where_rows_are_few():
    """All thirty rows gain a little, by a model that would lose much on a wrong label."""
    rows = 30
    base = nothing(rows)
    sure = HeldOut(
        np.full(rows, -0.3),
        np.tile([1 - 1e-4, 1e-4], (rows, 1)),
        np.zeros(rows, dtype=np.int64),
    )
    bold = Judged(replace(BASE, ratio=0.9), sure)
    modest = judged(np.full(rows, -0.3))
    assert guarded([bold], base, LEVEL) is bold
    assert guarded([bold], base, LEVEL, wrong_labels=True) is None
    assert guarded([modest], base, LEVEL, wrong_labels=True) is modest


def test_the_guard_is_stricter_with_few_rows():
    """The same differences, seen in 30 rows or in 3,000: rows that were not seen could outweigh
    a gain of the first."""
    from scipy.stats import t

    differences = np.tile([-0.3, 0.1, 0.1, -0.1, 0.0], 6)
    assert upper_bound(differences, 0.1) > 0
    assert upper_bound(np.tile(differences, 100), 0.1) < 0
    mean, error = differences.mean(), differences.std(ddof=1) / np.sqrt(30)
    assert mean + t.ppf(0.9, 29) * error < 0  # which the plain interval would have let pass


def test_by_chance_alone_nothing_is_dropped():
    rng = np.random.default_rng(1)
    passed = {
        m: np.mean(
            [
                guarded([judged(rng.standard_t(3, m)) for _ in range(3)], nothing(m), LEVEL)
                is not None
                for _ in range(300)
            ]
        )
        for m in (30, 300)
    }
    assert passed[30] < 0.01
    assert passed[300] < 0.2


def steps(candidate):
    return abs(np.log10(candidate.C / 0.1))


def test_the_plainest_C_that_is_as_good_as_the_best_stays():
    rng = np.random.default_rng(2)
    noise = rng.standard_normal(400)
    noise -= noise.mean()
    start, far = judged(0.5 + 0 * noise, 1.0), judged(0.4 + 0.1 * noise, 1.0, C=10.0)
    near = judged(0.4005 + 0.1 * noise + 0.01 * rng.standard_normal(400), 1.0, C=1.0)
    assert plainest([start, near, far], steps) is near  # within a standard error of the best
    assert plainest([start, far], steps) is far
    within = judged(0.4999 + 0.1 * noise, 1.0, C=10.0)
    assert plainest([start, within], steps) is start


def test_a_C_that_is_much_worse_on_a_few_rows_does_not_win_by_the_many():
    """Better by a little on 30 rows, of which one was worse by much: others like it may come."""
    gains = np.full(30, -0.1)
    gains[0] = 1.0
    assert gains.sum() < 0
    start, risky = judged(np.ones(30), 1.0), judged(1 + gains, 1.0, C=100.0)
    assert plainest([start, risky], steps) is start
    assert plainest([start, judged(np.full(30, 0.5), 1.0, C=100.0)], steps) is not start


def test_the_reason_says_when_the_rows_are_too_few():
    settings = ChooseSettings(level=LEVEL)
    differences = np.tile([-0.3, 0.1, 0.1, -0.1, 0.0], 6)
    base = judged(np.full(30, 0.5), 1.0)

    def reason(losses, pick=None):
        tried = judged(losses)
        return explain(tried if pick else base, base, base, [tried], settings)

    few = reason(0.5 + differences)
    assert few.startswith("nothing is dropped: ratio=0.9")
    assert "30 validation rows are too few to tell" in few
    needed = rows_needed(differences, settings.level)
    assert upper_bound(np.tile(differences, needed // 30), settings.level) < 0 < needed
    assert "no candidate lowers" in reason(0.5 - differences)
    assert reason(0.5 + 0.001 * differences).endswith("within chance")
    assert reason(0.5 + differences, pick=True).startswith(
        "ratio=0.9, sampler=dropout, stratify=false lowers the held-out validation loss by 0.0400"
    )
    refused = explain(base, base, base, [], settings, ["no row of class number 1"])
    assert "no smaller subset could be fitted (no row of class" in refused
    assert "rankings by φ were left out" in explain(base, base, base, [], settings, alike=True)
