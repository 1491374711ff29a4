"""Each kind of noise by its properties: how many rows, which, and that nothing else changes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import uids
from uids.datasets.data import Data
from uids.datasets.noise import Clean, add_noise, flip
from uids.datasets.settings import NOISES, SplitSettings
from uids.datasets.split import split

SETTINGS = SplitSettings(validation=0.2, test=0.3)


def data(classes=3, n=200, d=4, sparse=False, dtype=float):
    rng = np.random.default_rng(1)
    X = (rng.standard_normal((n, d)) * 10.0 ** np.arange(d) + 5).astype(dtype)
    if sparse:
        X = sp.csr_matrix(X * (rng.random((n, d)) < 0.5))
    return Data(X, rng.integers(0, classes, n))


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def noisy_and_clean(kind, noise=0.3, seed=5, **shape):
    source = data(**shape)
    return split(source, SETTINGS, noise, seed, kind), split(source, SETTINGS, 0.0, seed), source


@given(
    n=st.integers(1, 200),
    classes=st.integers(2, 5),
    noise=st.floats(0, 0.99),
    seed=st.integers(0, 99),
)
def test_uniform_flips_an_exact_number_of_labels(n, classes, noise, seed):
    y = np.random.default_rng(seed).integers(0, classes, n)
    noisy, flipped = flip(y, classes, noise, np.random.default_rng(seed))
    np.testing.assert_array_equal(np.flatnonzero(noisy != y), flipped)
    assert len(flipped) == int(noise * n)
    assert ((noisy >= 0) & (noisy < classes)).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", NOISES)
def test_only_what_the_kind_names_changes(kind, sparse):
    noisy, clean, source = noisy_and_clean(kind, sparse=sparse)
    before = dense(source.X).copy()
    labels = kind != "features"
    changed = np.flatnonzero(clean.train.y != noisy.train.y)
    np.testing.assert_array_equal(changed, noisy.flipped if labels else [])
    moved = np.flatnonzero((dense(noisy.sources["train"]) != before).any(axis=1))
    rows = noisy.train.row[noisy.flipped]
    if labels:
        assert noisy.sources["train"] is source.X
    else:  # rows of validation and test lie in the same matrix, and stay
        assert set(moved) <= set(rows)
        assert len(moved) > 0.8 * len(rows)  # a sparse row may be empty
    np.testing.assert_array_equal(noisy.test.y, clean.test.y)
    flipped = (noisy.validation.y != clean.validation.y).sum()
    assert flipped == (int(0.3 * len(clean.validation.y)) if kind == "both" else 0)
    np.testing.assert_array_equal(dense(source.X), before)
    for part in ("train", "validation", "test"):
        np.testing.assert_array_equal(getattr(noisy, part).row, getattr(clean, part).row)
    assert sp.issparse(noisy.sources["train"]) == sparse


@pytest.mark.parametrize("kind", NOISES)
def test_the_seed_decides_and_no_noise_is_none(kind):
    one, same, other = (noisy_and_clean(kind, seed=seed)[0] for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.flipped, same.flipped)
    np.testing.assert_array_equal(one.train.y, same.train.y)
    np.testing.assert_array_equal(one.validation.y, same.validation.y)
    np.testing.assert_array_equal(one.sources["train"], same.sources["train"])
    assert not np.array_equal(one.flipped, other.flipped)
    none, clean, source = noisy_and_clean(kind, noise=0.0)
    assert len(none.flipped) == 0
    assert none.sources["train"] is source.X
    np.testing.assert_array_equal(none.train.y, clean.train.y)


@given(
    classes=st.integers(2, 6),
    noise=st.floats(0, 0.99),
    seed=st.integers(0, 99),
    kind=st.sampled_from(NOISES),
)
def test_counts_are_exact(classes, noise, seed, kind):
    X, n = np.random.default_rng(seed).standard_normal((60, 3)), 40
    y = np.random.default_rng(seed).integers(0, classes, 60)
    noisy = add_noise(Clean(X, np.arange(n), y[:n], y[n:], classes), noise, kind, seed)
    expected = int(noise * n)
    if kind == "region":
        expected = int(0.8 * expected)
    if kind == "class":
        expected = sum(int(noise * (y[:n] == k).sum()) for k in range(1, classes, 2))
        np.testing.assert_array_equal(noisy.y[noisy.wrong], y[noisy.wrong] - 1)
        assert (y[noisy.wrong] % 2 == 1).all()
    assert len(noisy.wrong) == expected
    assert (np.diff(noisy.wrong) > 0).all()
    assert ((noisy.y >= 0) & (noisy.y < classes)).all()


def test_a_class_loses_its_share_and_no_other_does():
    noisy, clean, _ = noisy_and_clean("class", noise=0.4, classes=2)
    ones = clean.train.y == 1
    assert (noisy.train.y[ones] == 0).sum() == int(0.4 * ones.sum())
    assert (noisy.train.y[~ones] == 0).all()


@pytest.mark.parametrize(("sparse", "d"), [(False, 4), (True, 4), (True, 300)])
def test_a_region_is_beyond_a_plane(sparse, d):
    """A wrong row lies farther along some direction than most others: the linear model that tells
    wrong rows from the rest has few right rows beyond its plane, whichever the direction was."""
    from sklearn.linear_model import LogisticRegression

    source = data(n=400, d=4, sparse=sparse)
    if d > 4:  # wide: more columns than training rows, a few of them used
        rng = np.random.default_rng(0)
        source = Data(sp.csr_matrix(rng.random((400, d)) * (rng.random((400, d)) < 0.1)), source.y)
    noisy = split(source, SETTINGS, 0.2, 5, "region")
    wrong = np.zeros(200)
    wrong[noisy.flipped] = 1
    assert wrong.sum() == int(0.8 * int(0.2 * 200))
    X = dense(source.X)[noisy.train.row]
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    score = LogisticRegression(C=1e3, max_iter=5000).fit(X, wrong).decision_function(X)
    beyond = np.argsort(-score)[:40]
    assert wrong[beyond].sum() >= 28  # of 32; any 40 rows would hold 6 or 7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_feature_noise_has_three_spreads_of_its_column(sparse, dtype):
    source = data(n=20_000, sparse=sparse, dtype=dtype)
    noisy = split(source, SETTINGS, 0.5, 5, "features")
    X = noisy.sources["train"]
    assert X.dtype == dtype
    rows = noisy.train.row
    spread = dense(source.X)[rows].std(axis=0, dtype=float)
    before, after = (dense(each)[rows[noisy.flipped]] for each in (source.X, X))
    added = np.where(before != 0, after - before, np.nan)
    np.testing.assert_allclose(np.nanstd(added, axis=0), 3 * spread, rtol=0.05)
    if sparse:
        assert X.nnz == source.X.nnz
        assert (after[before == 0] == 0).all()


def test_a_constant_column_and_given_parts_are_no_trouble():
    X = np.c_[np.full(50, 0.1), np.arange(50.0)]  # 0.1 summed is not 50 times 0.1
    y = np.arange(50) % 2
    source = Data(X, y, validation=(X[:10], y[:10]), test=(X[:10], y[:10]))
    for kind in NOISES:
        noisy = split(source, SETTINGS, 0.4, 0, kind)
        assert len(noisy.flipped) > 0
        assert noisy.sources["validation"] is source.validation[0]
        assert np.isfinite(noisy.sources["train"]).all()
        assert (noisy.sources["train"][:, 0] == 0.1).all()


def test_both_flips_the_training_labels_of_uniform():
    both, uniform = (noisy_and_clean(kind)[0] for kind in ("both", "uniform"))
    np.testing.assert_array_equal(both.train.y, uniform.train.y)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("uniform", "28 training labels were flipped (noise=0.1)."),
        ("class", "to the class below (noise=0.1, noise_kind=class)."),
        ("region", "in one region of the features were flipped (noise=0.1, noise_kind=region)."),
        ("features", "28 training rows had noise added to their features"),
        ("both", "and the same share of the validation labels"),
    ],
)
def test_a_run_says_what_was_done(cli, tmp_path, kind, words):
    code, out, err = cli(
        "noise=0.1", f"noise_kind={kind}", "repeats=1", f"hydra.run.dir={tmp_path}"
    )
    assert code == 0, err
    page = (tmp_path / "report.html").read_text()
    assert words in page
    assert ("have noisy features" in out) == ("have noisy features" in page) == (kind == "features")
    assert ("flipped label" in out) == ("flipped label" in page) == (kind != "features")


def test_an_unknown_kind_is_one_line():
    with pytest.raises(uids.UidsError, match=r"noise_kind must be 'uniform' or .* .got 'unifrom'."):
        uids.run(noise=0.1, noise_kind="unifrom")
