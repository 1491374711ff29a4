"""The encoders of columns: what is kept of them gives the same, and what cannot be kept is told."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import uids
from uids.datasets.columns.category import Category
from uids.datasets.columns.column import State, text_of, text_state
from uids.datasets.formats.arrow_table import frame_table
from uids.datasets.formats.frame import Frame
from uids.datasets.formats.table_encoder import TableEncoder, finished, observed
from uids.datasets.frames.adopted import as_arrow
from uids.errors import UidsWarning
from uids.system.archive import read_archive, write_archive


def table(frame):
    return frame_table(as_arrow(frame))


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 300
    return pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "town": rng.choice(["Rom", "Århus", "", None], n),
            "when": pd.Timestamp("2023-01-01")
            + pd.to_timedelta(rng.integers(0, 9000, n), unit="h"),
            "note": rng.choice(["late again", "happy", None], n),
            "empty": pd.Series([None] * n, dtype=float),
            "y": rng.integers(0, 2, n),
        }
    )


@pytest.fixture(scope="module")
def encoder(frame):
    return Frame(frame, target="y", text="note").load().encoding.encoder


def test_what_is_kept_encodes_the_same(tmp_path, frame, encoder):
    state = encoder.state()
    write_archive(tmp_path / "e.npz", state.values, state.arrays)
    again = TableEncoder.restored(State(*read_archive(tmp_path / "e.npz")))
    new = frame.sample(50, random_state=1).drop(columns="y")
    expected, found = encoder.matrix(table(new)), again.matrix(table(new))
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    assert again.features() == encoder.features()
    assert again.notes() == encoder.notes()
    assert again.roles == encoder.roles


def test_values_of_X_are_told_in_the_units_of_the_table(frame):
    flags = frame.assign(member=np.arange(300) % 3 == 0)
    data = Frame(flags, target="y", text="note").load()
    X, units = data.X.toarray(), data.own_units
    names = data.encoding.encoder.features()

    def told(i, name):
        j = names.index(name)
        return units.own_value(j, X[i, j])

    for i in range(100):
        x, when, town = flags["x"][i], flags["when"][i], flags["town"][i]
        assert told(i, "x") == ("missing" if np.isnan(x) else pytest.approx(x, rel=1e-9))
        day = str(when.date()) if when == when.normalize() else f"{when:%Y-%m-%d %H:%M}"
        assert told(i, "when (days)") == day
        assert told(i, "town=Rom") == ("yes" if town == "Rom" else "no")
        assert told(i, "member") == ("true" if flags["member"][i] else "false")
        assert told(i, "note:late") is None
    assert replace(data, used=np.arange(2)).own_units is None


def numbers(values):
    return pd.DataFrame({"account": values, "x": np.linspace(0, 1, 200), "y": np.arange(200) % 2})


def test_whole_numbers_that_all_differ_are_told_as_ids():
    rng = np.random.default_rng(0)
    counted, ordered = rng.permutation(200) + 70_000, np.cumsum(rng.integers(1, 9999, 200))
    for values in (counted, ordered, ordered[::-1]):
        told = 'account: 200 whole numbers in 200 rows; an id\\? id="account" or drop='
        with pytest.warns(UidsWarning, match=told):
            Frame(numbers(values), target="y").load()
    strewn = rng.permutation(10**6)[:200]  # it might be an amount: a note is enough
    (note, *_) = Frame(numbers(strewn), target="y").load().encoding.columns
    assert note.note == "200 whole numbers in 200 rows; an id? dataset.id=account"
    for values in (rng.integers(0, 100, 200), strewn + 0.5):
        (note, *_) = Frame(numbers(values), target="y").load().encoding.columns
        assert note.note == ""


def test_unknown_categories_are_zeros_and_missing_values_as_in_training(frame, encoder):
    names = encoder.features()
    new = frame.head(2).assign(town=["Paris", None], x=[np.nan, 1.0], note=["never seen", None])
    X = encoder.matrix(table(new)).toarray()
    town = [i for i, name in enumerate(names) if name.startswith("town=")]
    assert X[0, town].sum() == 0
    assert X[1, names.index("town=(missing)")] == 1
    assert X[0, names.index("x")] == 0
    assert not X[:, [i for i, name in enumerate(names) if name.startswith("note:")]].any()


def test_no_rows_are_encoded_too(frame, encoder):
    assert encoder.matrix(table(frame.head(0))).shape == (0, encoder.width)


def test_columns_that_lack_or_exceed(frame, encoder):
    with pytest.raises(uids.UidsError, match="the frame lacks the column 'x', 'town', which"):
        encoder.matrix(table(frame.drop(columns=["x", "town"])))
    with pytest.warns(UidsWarning, match="the frame has the column 'more', which .* ignored"):
        encoder.matrix(table(frame.assign(more=1)))


def test_beyond_so_many_values_a_column_is_hashed(monkeypatch):
    monkeypatch.setattr(Category, "most", 64)
    n = 900
    values = [f"v{k}" for k in np.random.default_rng(0).integers(0, 300, n)]
    frame = pd.DataFrame({"v": values, "y": np.arange(n) % 2})
    loaded = Frame(frame, target="y").load()
    assert loaded.X.shape == (n, 64)
    assert loaded.features is None
    X = loaded.X.toarray()
    np.testing.assert_array_equal(X.sum(axis=1), 1)
    place = dict(zip(values, X.argmax(axis=1), strict=True))
    assert [place[v] for v in values] == X.argmax(axis=1).tolist()  # a value is always in one place
    assert len({*place.values()}) > 50  # of 64, for 300 values


def test_an_id_is_refused_as_soon_as_it_is_one(monkeypatch):
    frame = pd.DataFrame({"who": [f"w{k}" for k in range(500)], "y": np.arange(500) % 2})
    with pytest.raises(uids.UidsError, match=r"^who: 500 values in 500 rows; an id\?"):
        Frame(frame, target="y").load()
    with monkeypatch.context() as patch:
        patch.setattr(Category, "most", 150)
        patch.setattr("uids.datasets.formats.arrow_table.BATCH", 100)
        with pytest.raises(uids.UidsError, match=r"^who: 200 values in 200 rows; an id\?"):
            Frame(frame, target="y").load()
    few = Frame(frame.head(99), target="y").load()  # too few to say
    assert few.X.shape == (99, 99)


@pytest.mark.parametrize(
    "change",
    [
        {"ends": np.array([2, 1])}, {"ends": np.array([1, 9])}, {"ends": np.array([1.0, 2.0])},
        {"bytes": np.array([255, 255], np.uint8)}, {"missing": np.array([True])},
    ],
)  # fmt: skip
def test_damaged_texts_are_not_read(change):
    import pyarrow as pa

    arrays = text_state(pa.array(["a", "b"]))
    assert text_of(arrays).to_pylist() == ["a", "b"]
    with pytest.raises(ValueError):
        text_of({**arrays, **change})


@pytest.mark.parametrize(
    ("values", "is_refused"),
    [
        (["train", "val"], True),
        (["Training ", "te", "dev"], True),
        (["train", "train"], False),
        (["dev", "test"], False),  # without rows to train on it is no column of parts
        (["train", "bus", "test"], False),
        (["train", "test", None], False),
    ],
)
def test_a_column_of_parts_that_was_forgotten(values, is_refused):
    frame = pd.DataFrame({"x": range(60), "which": (values * 60)[:60], "y": [0, 1] * 30})
    if not is_refused:
        Frame(frame).load()
        return
    with pytest.raises(uids.UidsError, match=r'"which", or drop=\["which"\]$'):
        Frame(frame).load()
    Frame(frame, drop="which").load()


def test_prose_in_a_column_of_categories_is_told():
    rng = np.random.default_rng(0)
    words = [f"the box {i} came late" for i in range(150)]
    for values, is_told in ((words, True), (words[:80], False), ([*"abc", *words[:20]], False)):
        frame = pd.DataFrame({"note": rng.permutation(values * 3), "y": 0})
        frame.loc[::2, "y"] = 1
        (note, _) = Frame(frame).load().encoding.columns
        assert note.note.endswith("; words? dataset.text=[note]") is is_told
    towns = pd.DataFrame({"town": [f"Saint {i}" for i in range(150)] * 3, "y": [0, 1, 1] * 150})
    assert "words?" not in Frame(towns).load().encoding.columns[0].note


@pytest.mark.parametrize("cut", [1, 150, 299])
def test_what_was_learned_in_two_places_is_merged(frame, encoder, cut):
    """As if the rows had been read one after the other."""
    roles, whole = encoder.roles, table(frame)
    kinds = whole.kinds(roles.features)
    first, behind = (observed(table(part), roles, kinds) for part in (frame[:cut], frame[cut:]))
    first.merge(behind)
    merged = finished(first, whole)
    assert merged.features() == encoder.features()
    assert merged.notes() == encoder.notes()
    expected, found = encoder.matrix(whole).toarray(), merged.matrix(whole).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
