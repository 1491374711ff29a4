import numpy as np
import pytest
import scipy.sparse as sp

from uids.datasets.adopted import adopt
from uids.datasets.data import Data
from uids.datasets.settings import SplitSettings
from uids.datasets.split import split
from uids.errors import UidsError


def data(n=100, positive=0.3, **parts):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(n) < positive * n, "yes", "no")
    rng.shuffle(y)
    return Data(np.arange(2.0 * n).reshape(n, 2), y, **parts)


def test_every_row_is_in_one_part_and_keeps_its_number():
    source = data()
    parts = split(source, SplitSettings(), 0.0, seed=3)
    rows = np.concatenate([parts.train.row, parts.validation.row, parts.test.row])
    assert sorted(rows) == list(range(100))
    assert [len(p.row) for p in (parts.train, parts.validation, parts.test)] == [50, 20, 30]
    for part in (parts.train, parts.validation, parts.test):
        np.testing.assert_array_equal(parts.sources[part.origin][part.row], source.X[part.row])
        np.testing.assert_array_equal(parts.labels[part.y], source.y[part.row])
        assert (np.diff(part.row) > 0).all()


def test_random_is_stratified_and_follows_the_seed():
    one, same, other = (split(data(), SplitSettings(), 0.0, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.train.row, same.train.row)
    assert not np.array_equal(one.train.row, other.train.row)
    for part in (one.train, one.validation, one.test):
        assert abs(part.y.mean() - 0.3) <= 1.5 / len(part.y)


def test_a_row_that_is_alone_in_its_class_is_for_training():
    y = np.array(["rare"] + ["one", "other"] * 20)
    source = Data(np.arange(2.0 * len(y)).reshape(-1, 2), y)
    for seed in range(20):
        assert 0 in split(source, SplitSettings(), 0.0, seed).train.row


def test_sequential_keeps_the_order_of_the_file():
    settings = SplitSettings(kind="sequential", validation=15, test=25)
    parts = split(data(), settings, 0.0, seed=0)
    np.testing.assert_array_equal(parts.train.row, np.arange(60))
    np.testing.assert_array_equal(parts.validation.row, np.arange(60, 75))
    np.testing.assert_array_equal(parts.test.row, np.arange(75, 100))


def test_shift_trains_on_the_first_half_and_judges_on_the_second():
    settings = SplitSettings(kind="shift", train=20, validation=15, test=25)
    one, same, other = (split(data(), settings, 0.0, seed) for seed in (3, 3, 4))
    for name, size, low, high in (
        ("train", 20, 0, 50),
        ("validation", 15, 50, 100),
        ("test", 25, 50, 100),
    ):
        rows, again, else_ = (getattr(each, name).row for each in (one, same, other))
        assert len(set(rows)) == size
        assert (low <= rows).all()
        assert (rows < high).all()
        np.testing.assert_array_equal(rows, again)
        assert not np.array_equal(rows, else_)
    assert not set(one.validation.row) & set(one.test.row)
    default = split(data(), SplitSettings(kind="shift"), 0.0, seed=0)
    np.testing.assert_array_equal(default.train.row, np.arange(50))
    # Classes that one half does not have are no trouble there.
    sorted_labels = Data(np.ones((90, 1)), np.repeat([0, 1, 0, 2], [25, 20, 25, 20])[:90])
    with pytest.raises(UidsError, match="no training row is of class 2"):
        split(sorted_labels, settings, 0.0, seed=0)


def test_shift_with_parts_that_are_given_takes_nothing_away():
    source = data(validation=(np.ones((3, 2)), np.array(["yes", "no", "no"])))
    parts = split(source, SplitSettings(kind="shift", test=0), 0.0, seed=0)
    assert len(parts.train.y) == 100


def test_given_parts_are_used_and_numbered_in_their_own_files():
    source = data(validation=(np.ones((3, 2)), np.array(["yes", "no", "no"])))
    parts = split(source, SplitSettings(kind="given"), 0.0, seed=0)
    assert len(parts.train.y) == 100
    assert parts.sources[parts.train.origin] is source.X  # no copy
    assert parts.validation.origin == "validation"
    assert parts.sources["validation"] is source.validation[0]
    np.testing.assert_array_equal(parts.validation.row, [0, 1, 2])
    np.testing.assert_array_equal(parts.labels[parts.validation.y], ["yes", "no", "no"])
    assert parts.test is None
    # Only what is missing is split off.
    parts = split(source, SplitSettings(test=0.1), 0.0, seed=0)
    assert parts.test.origin == parts.train.origin == "train"
    assert [len(p.y) for p in (parts.train, parts.validation, parts.test)] == [90, 3, 10]


def test_sparse_rows_are_brought_to_one_form():
    """Duplicates summed and indices sorted, in a copy: the person's own matrix stays as it is."""
    X = sp.csr_matrix((np.ones(3), np.array([2, 0, 2]), np.array([0, 3, 3])), shape=(2, 3))
    found = adopt((X, [0, 1]), "mine").X
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), [[1, 0, 2], [0, 0, 0]])
    assert X.nnz == 3


def test_small_fractions_give_at_least_a_row():
    parts = split(data(n=12), SplitSettings(validation=0.01, test=0.01), 0.0, seed=0)
    assert [len(p.y) for p in (parts.train, parts.validation, parts.test)] == [10, 1, 1]


def test_no_test_rows():
    assert split(data(), SplitSettings(test=0), 0.0, seed=0).test is None


@pytest.mark.parametrize(
    ("source", "settings", "message"),
    [
        (Data(np.ones((60, 1)), np.linspace(0, 1, 60)), {}, "looks continuous"),
        (Data(np.ones((2, 1)), np.array(["a", 1], dtype=object)), {}, "of several types"),
        (Data(np.ones((4, 1)), np.ones(4)), {}, "the training labels are all 1.0"),
        (data(), {"validation": 60, "test": 40}, "100 rows cannot give 60 for validation and 40"),
        (data(), {"kind": "given"}, "no validation rows of its own"),
        (
            data(),
            {"kind": "shift", "validation": 30},
            "the second half of 100 rows.*30 . 30: lower",
        ),
        (
            Data(
                np.ones((2, 2)),
                np.array(["a", "b"], dtype=object),
                validation=(np.ones((1, 2)), np.array([1])),
            ),
            {},
            "of another type than the training labels",
        ),
        (
            data(validation=(np.ones((1, 2)), np.array(["perhaps"]))),
            {},
            "the label perhaps, which no training row has",
        ),
        (
            Data(np.ones((9, 1)), np.arange(9) // 5),
            {"kind": "sequential", "validation": 3, "test": 1},
            "no training row is of class 1",
        ),
    ],
)
def test_refusals_are_one_line(source, settings, message):
    with pytest.raises(UidsError, match=message) as error:
        split(source, SplitSettings(**settings), 0.0, seed=0)
    assert "\n" not in str(error.value)


def test_loaded_data_is_checked_not_copied():
    X = np.ones((3, 2))
    assert adopt((X, [0, 1, 0]), "mine").X is X
    sparse = sp.csr_matrix(X)
    assert adopt((sparse, [0, 1, 0]), "mine").X is sparse
    assert adopt((sp.coo_matrix(X), [0, 1, 0]), "mine").X.format == "csr"
    assert adopt((X.astype(np.uint8), [0, 1, 0]), "mine").X.dtype == np.float64
    assert adopt((np.full((2, 2), 1e308), [0, 1]), "mine").X.max() == 1e308


@pytest.mark.parametrize(
    ("loaded", "message"),
    [
        ((np.array([[1], [np.nan]]), [0, 1]), "dataset 'mine': X holds .* the first in row 1"),
        ((np.array([[np.inf]]), [0]), "not finite"),
        ((sp.csr_matrix([[0.0, 1], [2, np.nan]]), [0, 1]), "the first in row 1"),
        ((np.ones(3), [0, 1, 0]), "rows and columns"),
        ((np.ones((0, 3)), []), "rows and columns"),
        ((np.ones((2, 1), dtype=complex), [0, 1]), "real numbers"),
        (
            (sp.csr_matrix((np.ones(1), np.array([9]), np.array([0, 1, 1])), shape=(2, 3)), [0, 1]),
            "not a valid CSR matrix",
        ),
        ((np.ones((2, 1)), [0, np.nan]), "1 labels are missing, the first in row 1"),
        ((np.ones((2, 1)), np.array(["a", None])), "1 labels are missing, the first in row 1"),
        (None, "must give .X, y. or uids.Data, not NoneType"),
        (np.ones((2, 2)), "must give .X, y. or uids.Data, not ndarray"),
        ((np.ones((3, 1)), [0, 1]), "3 rows, but labels of shape"),
        ((np.ones((2, 1)), [0, 1], (np.ones((2, 3)), [0, 1])), "1 features .* and 3"),
    ],
)
def test_bad_data_is_one_line(loaded, message):
    with pytest.raises(UidsError, match=message):
        adopt(loaded, "mine")


@pytest.mark.parametrize("kind", ["random", "sequential"])
def test_training_rows_can_be_bounded(kind):
    settings = SplitSettings(kind=kind, train=30, validation=20, test=30)
    parts, whole = (
        split(data(), each, 0.0, seed=3)
        for each in (settings, SplitSettings(kind=kind, validation=20, test=30))
    )
    assert [len(p.row) for p in (parts.train, parts.validation, parts.test)] == [30, 20, 30]
    np.testing.assert_array_equal(parts.test.row, whole.test.row)
    np.testing.assert_array_equal(parts.validation.row, whole.validation.row)
    assert set(parts.train.row) < set(whole.train.row)
    assert len(split(data(), SplitSettings(train=90), 0.0, 0).train.row) == 50  # what there is
