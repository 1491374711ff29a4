import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2

from uids.selection.draw import _authors_sizes, _groups, _sizes, draw, inclusion_probabilities

probabilities = arrays(
    np.float64, st.integers(2, 60), elements=st.sampled_from([0.0, 1e-9, 0.1, 0.5, 0.9, 1.0])
)


def take(pi, y=None, **changes):
    options = {
        "ratio": 0.5,
        "kind": "exact",
        "stratify": True,
        "deterministic": False,
        "seed": 0,
    } | changes
    return draw(pi, np.zeros(len(pi), dtype=int) if y is None else y, **options)


@given(
    pi=probabilities,
    ratio=st.floats(0.01, 1),
    kind=st.sampled_from(["exact", "rounds"]),
    deterministic=st.booleans(),
    stratify=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_sizes_classes_and_order(pi, ratio, kind, deterministic, stratify, seed):
    y = np.random.default_rng(seed).integers(0, 3, len(pi))
    options = {"ratio": ratio, "kind": kind, "stratify": stratify, "seed": seed}
    found = take(pi, y, deterministic=deterministic, **options)
    assert (np.diff(found.rows) > 0).all()  # ascending, so none twice
    groups = _groups(y if stratify else np.zeros_like(y))
    if kind == "exact":
        sizes = _sizes(groups, ratio)
    elif deterministic:
        sizes = _authors_sizes(groups, ratio)
    else:
        sizes = [int(ratio * len(members)) for members in groups]
    kept = [np.isin(members, found.rows).sum() for members in groups]
    np.testing.assert_array_equal(kept, sizes)
    assert ((found.inclusion >= 0) & (found.inclusion <= 1)).all()
    again = take(pi, y, deterministic=deterministic, **options)
    np.testing.assert_array_equal(found.rows, again.rows)


@given(pi=probabilities, share=st.floats(0, 1))
def test_inclusion_is_proportional_up_to_the_cap(pi, share):
    size = round(share * len(pi))
    p = inclusion_probabilities(pi, size)
    assert p.sum() == pytest.approx(size, abs=1e-6)
    assert ((p >= 0) & (p <= 1)).all()
    free = (p < 1) & (pi > 0)
    if size <= (pi > 0).sum():
        assert (p[pi == 0] == 0).all()
        ratio = p[free] / pi[free]
        assert free.sum() < 2 or np.ptp(ratio) <= 1e-9 * ratio.max()
        # A capped row would have passed 1 at the common factor.
        if free.any():
            assert (pi[p == 1] * ratio.max() >= 1 - 1e-9).all()
    else:
        assert (p[pi > 0] == 1).all()


def frequencies(pi, draws, **options):
    total = np.zeros(len(pi))
    for seed in range(draws):
        total[take(pi, seed=seed, **options).rows] += 1
    return total


@pytest.mark.parametrize("kind", ["exact", "bernoulli"])
def test_rows_come_in_as_often_as_they_should(kind):
    pi = np.array([0.9, 0.7, 0.4, 0.4, 0.2, 0.1, 0.05, 0.0])
    draws, size = 4000, 4
    expected = inclusion_probabilities(pi, size) if kind == "exact" else pi
    seen = frequencies(pi, draws, kind=kind, ratio=0.5)
    fixed = (expected == 0) | (expected == 1)
    np.testing.assert_array_equal(seen[fixed], draws * expected[fixed])
    free = ~fixed
    spread = draws * expected[free] * (1 - expected[free])
    # Each term has mean 1; under a fixed size they are not independent, which only lowers the sum's
    # degrees of freedom. The seeds are fixed: this passes always or never.
    statistic = ((seen[free] - draws * expected[free]) ** 2 / spread).sum()
    assert statistic < chi2.ppf(0.999, free.sum())


@pytest.mark.parametrize("kind", ["exact", "bernoulli"])
def test_weights_by_inclusion_make_sums_unbiased(kind):
    """Horvitz and Thompson: Σ x_i / inclusion_i over the kept rows estimates Σ x_i."""
    rng = np.random.default_rng(0)
    x, pi = rng.standard_normal(60), rng.uniform(0.05, 1, 60)
    y = rng.integers(0, 2, 60)
    sums = []
    for seed in range(2000):
        found = take(pi, y, kind=kind, ratio=0.4, seed=seed)
        sums.append((x[found.rows] / found.inclusion).sum())
    error = np.std(sums) / np.sqrt(len(sums))
    assert abs(np.mean(sums) - x.sum()) < 4 * error


def test_rows_without_probability_fill_up_uniformly():
    pi = np.array([0.5, 0.5, 0, 0, 0, 0])
    seen = frequencies(pi, 3000, ratio=4 / 6)
    np.testing.assert_array_equal(seen[:2], 3000)
    np.testing.assert_allclose(seen[2:] / 3000, 0.5, atol=0.04)


def test_deterministic_keeps_the_largest_and_the_earlier_of_equals():
    pi = np.array([0.1, 0.9, 0.5, 0.5, 0.5, 0.2])
    np.testing.assert_array_equal(take(pi, deterministic=True).rows, [1, 2, 3])


def test_rounds_include_more_than_pi():
    pi = np.full(10, 0.1)
    seen = frequencies(pi, 500, kind="rounds", ratio=0.5)
    np.testing.assert_allclose(seen / 500, 0.5, atol=0.1)


@pytest.mark.parametrize(
    ("counts", "ratio", "sizes"),
    [
        ([100], 0.29, [29]),  # 0.29 · 100 is 28.999… in floating point
        ([10, 10], 0.95, [10, 9]),
        ([97, 3], 0.5, [49, 1]),
        ([99, 1], 0.5, [50, 1]),  # no class disappears
        ([7, 5, 3], 1.0, [7, 5, 3]),
    ],
)
def test_seats_by_largest_remainder(counts, ratio, sizes):
    groups = _groups(np.repeat(np.arange(len(counts)), counts))
    found = _sizes(groups, ratio)
    assert abs(found.sum() - int(ratio * sum(counts) + 1e-9)) <= 1
    np.testing.assert_array_equal(found, sizes)


def test_the_authors_sizes():
    # obj = int(0.95 · 350) = 332, k_pos = int(332 · 160 / 350) = 151, k_neg = 332 − 151
    groups = _groups(np.repeat([0, 1], [190, 160]))
    np.testing.assert_array_equal(_authors_sizes(groups, 0.95), [181, 151])
