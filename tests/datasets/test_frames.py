"""Frames of pandas, polars and Arrow, and the kinds of arrays that people have."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from messy import ROLES, messy
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import uids
from uids.datasets.data import check
from uids.datasets.formats.arrow_table import frame_table
from uids.datasets.formats.csv import Csv
from uids.datasets.formats.frame import Frame
from uids.datasets.formats.parquet import Parquet
from uids.datasets.frames.adopted import as_arrow
from uids.datasets.settings import SplitSettings
from uids.datasets.split import split

KINDS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "pandas of arrow": lambda frame: pa.Table.from_pandas(frame).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
}


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_is_encoded_as_the_file_it_is_written_to(tmp_path, kind):
    frame, _ = messy()
    roles = {**ROLES, "drop": ["serial"], "id": "customer", "text": ["remark"]}
    found = Frame(KINDS[kind](frame), **roles).load()
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    for other in (
        Csv(str(tmp_path / "t.csv"), **roles),
        Parquet(str(tmp_path / "t.parquet"), **roles),
    ):
        loaded = other.load()
        assert loaded.features == found.features
        np.testing.assert_array_equal(dense(loaded.X), dense(found.X))
        np.testing.assert_array_equal(loaded.y, found.y)
        for part, rows in found.part_rows.items():
            np.testing.assert_array_equal(loaded.part_rows[part], rows)
        assert loaded.encoding.ids.to_pylist() == found.encoding.ids.to_pylist()
        assert [*loaded.encoding.columns] == [*found.encoding.columns]


UNTIDY = "plan,seen,age,y\n" + "".join(
    f"{plan},{day:02d}.03.2023,{age},{k % 2}\n"
    for k, (plan, day, age) in enumerate(
        zip(
            ["a", "b ", " b", "", "NA", "None", " null "] * 20,
            [5, 14, 28, 9] * 35,
            ["5", "6 ", " 7", "", "8"] * 28,
            strict=True,
        )
    )
)


@pytest.mark.parametrize("options", [{}, {"keep_default_na": False}, {"dtype_backend": "pyarrow"}])
def test_text_of_a_frame_is_read_as_that_of_the_file(tmp_path, options):
    """Blanks, missing words and dates: the model of the file gives both the same X."""
    path = tmp_path / "t.csv"
    path.write_text(UNTIDY)
    ours = Csv(str(path)).load()
    frame = pd.read_csv(path, **options)
    frame.to_parquet(tmp_path / "t.parquet")
    parquet = Parquet("").open(tmp_path / "t.parquet", "t.parquet")
    for table in (frame_table(as_arrow(frame)), parquet):
        np.testing.assert_array_equal(dense(ours.encoding.encoder.matrix(table)), dense(ours.X))
    numbers = {"age": pd.read_csv(path, skipinitialspace=True)["age"]}
    for own in (
        Frame(frame.assign(**numbers)).load(),
        Frame(pl.from_pandas(frame.assign(**numbers))).load(),
    ):
        assert own.features == ours.features
        np.testing.assert_allclose(dense(own.X), dense(ours.X), atol=1e-12)
        assert [*own.encoding.columns] == [*ours.encoding.columns]


def test_numbers_and_categories_that_a_frame_calls_text_stay_so():
    days = ["2023-01-05", "2023-01-06"] * 30
    frame = pd.DataFrame({"zip": ["0150", "0151"] * 30, "day": days, "y": [0, 1, 1] * 20})
    kinds = [c.kind for c in Frame(frame).load().encoding.columns]
    assert kinds == ["category", "date", "target"]
    frame["day"] = frame["day"].astype("category")
    assert Frame(frame).load().features == [
        "zip=0150", "zip=0151", "day=2023-01-05", "day=2023-01-06",
    ]  # fmt: skip


def test_a_transformer_is_given_the_text_of_the_frame():
    frame = pd.DataFrame({"day": ["2023-01-05", "2023-01-06 "] * 30, "y": [0, 1, 1] * 20})
    loaded = Frame(frame, encoder=OneHotEncoder()).load()
    assert loaded.features == ["day_2023-01-05", "day_2023-01-06 "]


def test_ids_keep_their_type(tmp_path):
    frame, _ = messy()
    frame["label"], frame["zip"] = frame["serial"].astype(str), "0" + frame["serial"].astype(str)
    frame.to_csv(tmp_path / "t.csv", index=False)
    roles = {**ROLES, "id": ["label", "zip", "customer", "serial"]}
    result = uids.run(frame, **roles, repeats=1)
    rows = frame.loc[result.row]
    assert result.ids["label"].to_pylist() == [*rows["label"]]  # text stays text
    assert [*result.frame()["label_id"]] == [*rows["label"]]  # beside the labels
    result = uids.run(str(tmp_path / "t.csv"), **roles, repeats=1)
    assert result.ids["label"].to_pylist() == [*rows["serial"]]  # which a CSV cannot tell
    assert result.ids["zip"].to_pylist() == [*rows["zip"]]  # and this is no number


def test_names_of_features_and_what_was_made_of_the_columns():
    frame, _ = messy()
    loaded = Frame(frame, **ROLES).load()
    assert len(loaded.features) == loaded.X.shape[1]
    assert loaded.features[:3] == ["age", "since (days)", "member"]
    assert {"town=Rom", "town=(missing)", "since.weekday=Mon"} <= {*loaded.features}
    kinds = {column.name: column.kind for column in loaded.encoding.columns}
    assert kinds == {
        "age": "number", "town": "category", "since": "date", "member": "true/false",
        "customer": "id", "serial": "id", "part": "part", "remark": "dropped", "churn": "target",
    }  # fmt: skip
    assert sum(column.features for column in loaded.encoding.columns) == loaded.X.shape[1]


def test_a_column_of_parts_is_as_good_as_three_files(tmp_path):
    frame, _ = messy()
    words = {"train": "train", "validation": "valid", "test": "Test"}
    whole = Frame(frame, **ROLES).load()
    roles = {**ROLES, "part": None, "drop": ["remark", "part"]}
    apart = Frame(*(frame[frame["part"] == word] for word in words.values()), **roles).load()
    assert apart.features == whole.features
    pairs = {"train": (apart.X, apart.y), "validation": apart.validation, "test": apart.test}
    shares = split(check(whole, "frame"), SplitSettings(), 0.0, 0)
    for part, word in words.items():
        rows = np.flatnonzero(frame["part"] == word)
        np.testing.assert_array_equal(whole.part_rows[part], rows)
        np.testing.assert_allclose(dense(whole.X)[rows], dense(pairs[part][0]), atol=1e-12)
        np.testing.assert_array_equal(whole.y[rows], pairs[part][1])
        np.testing.assert_array_equal(getattr(shares, part).row, rows)


def test_parts_that_a_column_does_not_name_are_split_off_its_training_rows():
    frame, _ = messy()
    frame["part"] = np.where(frame["part"] == "valid", "dev", "train")
    loaded = check(Frame(frame, **ROLES).load(), "frame")
    shares = split(loaded, SplitSettings(test=100), 0.0, 0)
    judged = np.flatnonzero(frame["part"] == "dev")
    np.testing.assert_array_equal(shares.validation.row, judged)
    assert len(shares.test.row) == 100
    rows = np.concatenate([shares.train.row, shares.test.row])
    np.testing.assert_array_equal(np.sort(rows), np.setdiff1d(np.arange(len(frame)), judged))


@pytest.mark.parametrize(
    ("change", "roles", "message"),
    [
        ({}, {"target": None}, r"uids.run\(frame, target=…\); the columns of the frame are cust"),
        ({}, {"target": "chrn"}, "target: unknown column 'chrn'. Did you mean 'churn'?"),
        ({}, {"drop": "remarks"}, "drop: unknown column 'remarks'. Did you mean 'remark'?"),
        ({}, {"id": "part"}, "id and part are both 'part': one column"),
        ({}, {"id": None}, r"^customer: 394 values in 394 rows; an id\? "
         r'id="customer" or drop=\["remark","customer"\]; words\? text=\["customer"\]$'),
        ({"part": "later"}, {}, "the part .column 'part'. is 'later' in row 0, counted from 0"),
        ({"part": None}, {}, "the part .column 'part'. is missing in row 0"),
        ({"part": "test"}, {}, "no row is for training .column 'part'."),
        ({}, {"part": None}, r"^column 'part' holds train, validation and test: "
         r'part="part", or drop=\["remark","part"\]$'),
        ({}, {"target": "customer", "id": "serial"}, r"the frame: column 'customer' has 600 "
         r"different labels in 600 rows: an id\? name the column of labels by target$"),
        ({"age": ["n/k", 3, 4.5] * 200}, {}, r"the frame: column 'age' holds numbers and text "
         r"\('n/k'\): make all of it numbers"),
        ({"odd": [[1]] * 600}, {}, r"column 'odd' is of type list.*drop=\[\"odd\"\]"),
        ({}, {"part": None, "id": 3}, "id must be the name of a column or a list of names .got 3."),
        ({}, {"validation": messy(40)[0]}, "part must be left out where validation or test is"),
        ({}, {"encoder": OneHotEncoder}, "encoder must be a transformer .* not a class"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:serial:uids.errors.UidsWarning")
def test_a_frame_that_cannot_be_used_is_one_line(change, roles, message):
    frame = messy()[0].assign(**change)
    with pytest.raises(uids.UidsError, match=message) as error:
        uids.run(frame, **{**ROLES, **roles})
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400  # and so not the frame itself


def test_columns_for_what_is_no_frame():
    with pytest.raises(uids.UidsError, match=r"target=… is for a frame, .* not for tuple"):
        uids.run((np.eye(4), [0, 1, 0, 1]), target="y")


DATES = {
    "%Y-%m-%d": "date", "%Y-%m-%d %H:%M:%S": "date", "%Y-%m-%dT%H:%M:%SZ": "date",
    "%Y/%m/%d": "date", "%d.%m.%Y": "date", "%m/%d/%Y": "date",
    "%d/%m/%Y": "date", "%d.%m.%y": "category",
}  # fmt: skip


@pytest.mark.parametrize("written", DATES)
def test_dates_as_people_write_them(tmp_path, written):
    day = np.arange(450) % 90
    days = pd.Timestamp("2023-01-05") + pd.to_timedelta(day, unit="D")
    frame = pd.DataFrame(
        {"when": days.strftime(written), "x": np.arange(450) % 150, "y": [0, 1] * 225}
    )
    frame.loc[3, "when"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    loaded = Csv(str(tmp_path / "t.csv")).load()
    (column,) = [c for c in loaded.encoding.columns if c.name == "when"]
    assert column.kind == DATES[written]
    if column.kind == "date":
        known = np.delete(np.arange(450), 3)
        expected = (day[known] - day[known].mean()) / day[known].std()
        X = dense(loaded.X)
        np.testing.assert_allclose(X[known, 0], expected, atol=1e-9)
        assert X[3, 0] == 0  # the mean
        months = [loaded.features.index(f"when.month={k}") for k in (1, 2, 4)]
        assert X[0, months].tolist() == [1, 0, 0]
        assert not X[3, 2:].any()  # of no month or weekday


def test_days_that_may_be_months_stay_text(tmp_path):
    (tmp_path / "t.csv").write_text(
        "when,y\n" + "".join(f"0{k}/02/2023,{k % 2}\n" for k in range(1, 9))
    )
    loaded = Csv(str(tmp_path / "t.csv")).load()
    assert loaded.encoding.columns[0].kind == "category"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Oslo"])
def test_timestamps_of_parquet(tmp_path, unit, zone):
    moments = pd.date_range("2023-01-05", periods=400, freq="7h", tz=zone).as_unit(unit)
    frame = pd.DataFrame({"when": moments, "y": [0, 1] * 200})
    frame.to_parquet(tmp_path / "t.parquet")
    loaded = Parquet(str(tmp_path / "t.parquet")).load()
    days = moments.tz_convert("UTC").tz_localize(None) if zone else moments
    days = np.asarray((days - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1))
    np.testing.assert_allclose(dense(loaded.X)[:, 0], (days - days.mean()) / days.std(), atol=1e-7)
    assert "when.weekday=Sun" in loaded.features


def test_text_is_what_scikit_learn_makes_of_it():
    rng = np.random.default_rng(0)
    words = np.array(["refund", "late", "happy", "Late", "a", "the_box", "ærlig"])
    text = [" ".join(rng.choice(words, rng.integers(0, 6))) for _ in range(80)]
    frame = pd.DataFrame({"x": range(80), "note": text, "y": [0, 1] * 40})
    loaded = Frame(frame, text="note").load()
    oracle = TfidfVectorizer()
    np.testing.assert_allclose(
        dense(loaded.X)[:, 1:], oracle.fit_transform(text).toarray(), atol=1e-12
    )
    assert loaded.features[1:] == [f"note:{word}" for word in oracle.get_feature_names_out()]


def test_any_transformer_can_make_x_of_the_columns():
    frame, _ = messy()
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    encoder = make_column_transformer(
        (numbers, ["age"]), (OneHotEncoder(handle_unknown="ignore"), ["town"])
    )
    loaded = Frame(frame, **ROLES, encoder=encoder).load()
    train = frame[frame["part"] == "train"]
    features = frame[["age", "town", "since", "member"]]
    expected = encoder.fit(features.loc[train.index]).transform(features)
    np.testing.assert_allclose(dense(loaded.X), dense(expected))
    assert loaded.features == [*encoder.get_feature_names_out()]


NUMBERS = pd.DataFrame({"a": [0.5, 1, 2, 3] * 30, "b": [True, False] * 60, "c": range(120)})
LABELS = np.array([0, 1, 1, 0] * 30)


def as_nullable(frame):
    return frame.convert_dtypes()


@pytest.mark.parametrize(
    "kind",
    [
        lambda frame: frame,
        as_nullable,
        lambda frame: frame.astype("double[pyarrow]"),
        lambda frame: frame.astype("Float64"),
        lambda frame: pd.get_dummies(frame.assign(d=["u", "v", "w"] * 40)).drop(
            columns=["d_u", "d_v", "d_w"]
        ),
        pl.from_pandas,
        lambda frame: pa.Table.from_pandas(frame),
        lambda frame: frame.to_numpy(dtype=float).tolist(),
    ],
    ids=["bool", "nullable", "arrow", "Float64", "get_dummies", "polars", "table", "lists"],
)
def test_numbers_of_every_kind_are_numbers(kind):
    X = kind(NUMBERS)
    loaded = check(uids.Data(X, LABELS), "mine")
    np.testing.assert_array_equal(loaded.X, NUMBERS.to_numpy(dtype=float))
    named = None if isinstance(X, list) else ["a", "b", "c"]
    assert loaded.features == named
    found = uids.influence("logreg", (X, LABELS), (X, LABELS.reshape(-1, 1)))
    result = uids.run((X, LABELS), repeats=1)
    assert len(found.phi) == 120
    assert result.predict_proba(X).shape == (120, 2)


def test_columns_of_validation_rows_are_taken_by_name():
    swapped = NUMBERS[["c", "a", "b"]]
    loaded = check(uids.Data(NUMBERS, LABELS, validation=(swapped, LABELS)), "mine")
    np.testing.assert_array_equal(loaded.validation[0], loaded.X)
    with pytest.raises(uids.UidsError, match="lacks the column 'b', which the training rows have"):
        check(uids.Data(NUMBERS, LABELS, validation=(NUMBERS[["a", "c"]], LABELS)), "mine")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((NUMBERS.assign(t="x"), LABELS), r"not hold numbers: 't'; uids.run\(frame, target=…\)"),
        ((NUMBERS.assign(a=pd.array([None] * 120, "Float64")), LABELS), "that are not finite"),
        (([[1, 2], [1, 2, 3]], [0, 1]), "rows of one length: row 0 has 2 values, row 1 has 3"),
        ((NUMBERS, LABELS, np.ones(120)), r"rows must be a pair \(X, y\), not an array of "
         r"shape \(120,\): .*weights of rows are not taken"),
        ((NUMBERS, np.stack([LABELS] * 2, axis=1)), r"120 rows, but labels of shape \(120, 2\)"),
        ((np.ma.masked_array(np.eye(4), np.eye(4)), LABELS[:4]), "masked array with 4 masked"),
        ((NUMBERS, np.round(np.linspace(20, 60, 120)) * 1.5), "y looks continuous"),
        ((NUMBERS, np.arange(120) % 55), "y looks continuous: it has 55 different values"),
    ],
)  # fmt: skip
def test_arrays_that_cannot_be_used_are_one_line(data, message):
    with pytest.raises(uids.UidsError, match=message) as error:
        uids.run(data)
    assert "\n" not in str(error.value)
