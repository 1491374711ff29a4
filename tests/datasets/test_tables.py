"""CSV and Parquet of a person's own, against pandas and scikit-learn's encoders."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import uids
from uids.datasets.data import check
from uids.datasets.formats.csv import Csv
from uids.datasets.formats.parquet import Parquet
from uids.registry import REGISTRIES

DATASETS = REGISTRIES["dataset"]


class CsvInBatches(Csv):
    block = 256


class ParquetInBatches(Parquet):
    batch = 3


@pytest.fixture(scope="module", params=["whole", "in batches"])
def build(request):
    """Every test once with the file in one piece, once in pieces of a few rows."""
    kinds = {"csv": CsvInBatches, "parquet": ParquetInBatches}
    if request.param == "whole":
        return DATASETS.build
    return lambda kind, **fields: kinds[kind](**fields)


def people(n=60, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.choice(["Rom", "Århus", "Oslo", None], n)
    return pd.DataFrame(
        {
            "id": np.arange(n) + 1000,
            "age": rng.integers(18, 90, n),
            "town": town,
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(10, 1, n)),
            "member": rng.random(n) < 0.5,
            "note": rng.choice(["a, b", 'say "x"', "two\nlines", "plain"], n),
            "label": rng.integers(0, 2, n),
        }
    )


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return str(path)


def oracle(frames, numbers, categories):
    """X of each frame: pandas' means, scikit-learn's scaler and one-hot encoder."""
    train = frames[0]
    scaler = StandardScaler().fit(train[numbers].astype(float))
    columns = [train[c].astype(object).where(train[c].notna(), None) for c in categories]
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    one_hot.fit(np.array(columns, dtype=object).T)
    found = []
    for frame in frames:
        scaled = np.nan_to_num(scaler.transform(frame[numbers].astype(float)))
        text = [frame[c].astype(object).where(frame[c].notna(), None) for c in categories]
        found.append(np.hstack([scaled, one_hot.transform(np.array(text, dtype=object).T)]))
    return found


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet"])
def test_a_table_is_standardised_and_one_hot(build, tmp_path, name):
    frames = [people(), people(25, seed=1), people(7, seed=2)]
    frames[1].loc[3, "town"] = "Paris"  # which the training file has not
    parts = ("train", "validation", "test")
    paths = {
        part: write(f, tmp_path / f"{part}-{name}") for part, f in zip(parts, frames, strict=True)
    }
    kind = "parquet" if name.endswith("parquet") else "csv"
    loaded = check(build(kind, **paths, id="id").load(), kind)
    expected = oracle(frames, ["age", "income", "member"], ["town", "note"])
    found = [(loaded.X, loaded.y), loaded.validation, loaded.test]
    for (X, y), X_expected, frame in zip(found, expected, frames, strict=True):
        assert sp.issparse(X)
        assert X.has_canonical_format
        np.testing.assert_allclose(X.toarray(), X_expected, atol=1e-12)
        np.testing.assert_array_equal(y, frame["label"])
        assert y.dtype == np.int64
    assert found[1][0][3, 3:7].sum() == 0  # Paris has no column


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_numbers_alone_are_dense(build, tmp_path, name):
    frame = people()[["age", "income", "label"]].assign(constant=0.1, empty=np.nan)
    kind = name.partition(".")[2]
    loaded = build(kind, train=write(frame, tmp_path / name)).load()
    assert isinstance(loaded.X, np.ndarray)
    assert not loaded.X[:, 2:].any()
    np.testing.assert_allclose(
        loaded.X[:, :2], oracle([frame], ["age", "income"], ["label"])[0][:, :2]
    )
    np.testing.assert_allclose(loaded.X[:, 0].var(), 1)
    assert loaded.validation is None
    assert loaded.test is None


def test_a_column_is_what_all_of_its_rows_say(build, tmp_path):
    lines = [f"{i},{i},{i % 2}, {i} ,{i % 2},{'yes' if i % 3 else 'no'}" for i in range(80)]
    lines += ["1.5,x,true,NA,0,yes", "2,3,FALSE, ,1,no"]  # in the last of the batches
    path = tmp_path / "t.csv"
    path.write_text("half, word,flag,spaced,bit ,target\n" + "\n".join(lines) + "\n")
    loaded = build("csv", train=str(path)).load()
    assert loaded.X.shape == (82, 4 + 81)  # 81 words
    X = loaded.X.toarray()
    np.testing.assert_allclose(X[:, :4].mean(axis=0), 0, atol=1e-12)
    assert len(np.unique(X[:, 1])) == len(np.unique(X[:, 3])) == 2
    assert X[80, 1] == X[1, 1]  # true is 1
    assert not X[80:, 2].any()  # a missing number is the mean
    assert set(loaded.y) == {"yes", "no"}


def cells(values):
    return st.lists(values, min_size=1, max_size=30)


@settings(max_examples=20)
@given(
    numbers=cells(st.none() | st.floats(-1e6, 1e6)),
    words=cells(st.none() | st.text(st.sampled_from("abc é,'\""), min_size=1).map("w{}w".format)),
)
def test_csv_and_parquet_give_the_same(build, tmp_path_factory, numbers, words):
    n = min(len(numbers), len(words))
    frame = pd.DataFrame({"x": pd.Series(numbers[:n], dtype=float)})
    frame["w"] = pd.Series(["first", *words[1:n]], dtype="string")
    frame["y"] = np.arange(n) % 2
    folder = tmp_path_factory.mktemp("tables")
    loaded = [
        build(kind, train=write(frame, folder / f"t.{kind}")).load().X.toarray()
        for kind in ("csv", "parquet")
    ]
    np.testing.assert_allclose(loaded[0], loaded[1], rtol=1e-6, atol=1e-9)
    assert loaded[0].shape == (n, 1 + frame["w"].nunique(dropna=False))
    np.testing.assert_array_equal(loaded[0][:, 1:].sum(axis=1), 1)
    values = np.unique(frame["w"].fillna("zzz"))  # a missing value is the last
    np.testing.assert_array_equal(values[loaded[0][:, 1:].argmax(axis=1)], frame["w"].fillna("zzz"))
    x = frame["x"].to_numpy()
    known = ~np.isnan(x)
    assert not loaded[0][~known, 0].any()
    if len(np.unique(x[known])) > 1 and np.std(x[known]) > 1e-3:
        back = loaded[0][known, 0] * np.std(x[known]) + np.mean(x[known])
        np.testing.assert_allclose(back, x[known], rtol=1e-6, atol=1e-6)


def test_differences_too_small_to_square_are_none(build, tmp_path):
    frame = pd.DataFrame({"x": [0.0, 7e-235], "y": [0, 1]})
    path = write(frame, tmp_path / "t.parquet")
    assert not build("parquet", train=path).load().X.any()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["0", "1", "1"], np.array([0, 1, 1])),
        (["-1", "+1", "-1"], np.array([-1, 1, -1])),
        (["1", "2.0", "1"], np.array([1, 2, 1])),
        (["1", "2.5", "1"], np.array([1, 2.5, 1])),
        (["True", "False", "True"], np.array(["True", "False", "True"])),
        (["1", "b", "b"], np.array(["1", "b", "b"])),
    ],
)
def test_labels_of_a_csv(build, tmp_path, labels, expected):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    found = build("csv", train=str(path)).load().y
    np.testing.assert_array_equal(found, expected)
    assert found.dtype.kind == expected.dtype.kind


def test_labels_of_all_files_are_of_one_type(build, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,1\n")
    (tmp_path / "b.csv").write_text("x,y\n1,0.0\n2,1.0\n")
    paths = {"train": str(tmp_path / "a.csv"), "test": str(tmp_path / "b.csv")}
    loaded = build("csv", **paths).load()
    np.testing.assert_array_equal(loaded.test[1], loaded.y)


def test_parquet_types(build, tmp_path):
    frame = people()
    frame["town"] = frame["town"].astype("category")
    frame["age"] = frame["age"].astype("float32")
    frame["code"] = frame["id"].astype(str)  # text that looks like numbers
    frame["label"] = frame["label"] == 1
    frame.index = frame.index + 5  # which pandas writes as a column
    frame.to_parquet(tmp_path / "t.parquet", index=True)
    loaded = build("parquet", train=str(tmp_path / "t.parquet")).load()
    assert loaded.X.shape == (60, 4 + 4 + 4 + 60)
    np.testing.assert_array_equal(loaded.y, frame["label"])


def test_what_pandas_writes_as_its_index_is_left_out(build, tmp_path):
    frame = people()[["age", "label"]]
    frame.to_csv(tmp_path / "t.csv")
    assert build("csv", train=str(tmp_path / "t.csv")).load().X.shape == (60, 1)


def test_a_table_is_parsed_once(build, tmp_path, monkeypatch):
    path = write(people(), tmp_path / "t.csv")
    first = build("csv", train=path).load()
    with monkeypatch.context() as patch:
        patch.setattr(Csv, "open", lambda *_: pytest.fail("parsed again"))
        again = build("csv", train=path).load()
    np.testing.assert_array_equal(first.X.toarray(), again.X.toarray())
    other = build("csv", train=path, target="member").load()  # other options
    assert other.X.shape == first.X.shape
    assert set(other.y) == {"True", "False"}


CSV = "a,b,y\n1,u,0\n2,v,1\n3,u,1\n"


@pytest.mark.parametrize(
    ("train", "fields", "message"),
    [
        ("", {}, r"cannot read dataset.train=.*t.csv: Empty CSV file"),
        ("a,b,y\n", {}, r"dataset.train=.*t.csv has no rows"),
        ("y\n1\n", {}, r"t.csv has no column beside the labels"),
        ("a,a,y\n1,2,3\n", {}, r"has two columns 'a': rename one"),
        (CSV, {"target": "why"}, r"dataset.target: unknown column 'why'.* Known: a, b, y"),
        (CSV, {"id": "aa"}, r"dataset.id: unknown column 'aa'. Did you mean 'a'\?"),
        (CSV, {"id": "y"}, r"dataset.id and dataset.target are both 'y'"),
        ("a,b\n1,2\n", {}, r"dataset.target must name the column of labels; .* are a, b$"),
        ("label,y\n1,2\n", {}, r"dataset.target must name the column of labels"),
        ("a;y\n1;2\n", {}, r"are a;y \(only one: is the separator a comma\?\)"),
        (CSV + "4,u,\n5,u,NA\n", {}, r"label \(column 'y'\) is missing in row 3, counted from 0"),
        (CSV + "inf,u,1\n", {}, r"column 'a' is infinite in row 3, counted from 0"),
        (CSV + "1e200,u,1\n", {}, r"the numbers of column 'a' are too large"),
        (CSV + "4,u\n", {}, r"Expected 3 columns, got 2"),
        (b"a,y\n\xff,1\n", {}, r"cannot read .*UTF8"),
    ],
)
def test_a_table_that_cannot_be_used_is_one_line(build, tmp_path, train, fields, message):
    path = tmp_path / "t.csv"
    path.write_bytes(train if isinstance(train, bytes) else train.encode())
    with pytest.raises(uids.UidsError, match=message) as error:
        build("csv", train=str(path), **fields).load()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("block", [64, 2**20])
def test_a_row_with_too_many_cells_is_told_by_its_number(
    build, tmp_path, monkeypatch, threads, block
):
    """However many threads Arrow has: it counts rows with one of them alone."""
    lines = ["a,b,y", "", *(f'{k}.5,"two\nlines",{k % 2}' for k in range(40))]
    path, before = tmp_path / "t.csv", pa.cpu_count()
    path.write_text("\n".join([*lines, "1,Row #7: Expected 3 columns,1,9", *lines[2:]]))
    monkeypatch.setattr(Csv, "block", block)
    pa.set_cpu_count(threads)
    try:
        with pytest.raises(uids.UidsError, match="row 40, counted from 0: Expected 3 columns, got"):
            build("csv", train=str(path)).load()
    finally:
        pa.set_cpu_count(before)


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        ("a,y\n1,0\n", r"dataset.validation=.* lacks the column 'b', which dataset.train=.* has"),
        ("a,b,y,z\n1,u,0,0\n", r"dataset.train=.* lacks the column 'z', which dataset.validation"),
        ("a,b,y\n1,u,0\nold,u,1\n", r"column 'a' does not hold what it holds in the .*'old'"),
        ("a,b,y\n1,u,\n", r"dataset.validation=.*the label .* is missing in row 0"),
    ],
)
def test_files_that_do_not_go_together(build, tmp_path, validation, message):
    (tmp_path / "t.csv").write_text(CSV)
    (tmp_path / "v.csv").write_text(validation)
    paths = {"train": str(tmp_path / "t.csv"), "validation": str(tmp_path / "v.csv")}
    with pytest.raises(uids.UidsError, match=message) as error:
        build("csv", **paths).load()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("column", "kind"),
    [([[1, 2]] * 4, "list"), ([b"x"] * 4, "binary")],
)
def test_columns_of_other_types_are_named(build, tmp_path, column, kind):
    path = write(
        pd.DataFrame({"x": range(4), "odd": column, "y": [0, 1] * 2}), tmp_path / "t.parquet"
    )
    with pytest.raises(uids.UidsError, match=f"column 'odd' is of type {kind}.*; make numbers or"):
        build("parquet", train=path).load()
    assert build("parquet", train=path, id="odd").load().X.shape == (4, 1)


def test_files_that_are_no_parquet(build, tmp_path):
    (tmp_path / "t.parquet").write_text(CSV)
    with pytest.raises(uids.UidsError, match=r"cannot read dataset.train=.*: Parquet"):
        build("parquet", train=str(tmp_path / "t.parquet")).load()
    with pytest.raises(uids.UidsError, match="there is no file"):
        build("parquet", train=str(tmp_path / "nowhere")).load()
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(CSV.encode())[:-12])
    with pytest.raises(uids.UidsError, match=r"cannot read dataset.train="):
        build("csv", train=str(tmp_path / "t.csv.gz")).load()


def test_a_target_with_too_many_texts_is_no_class(tmp_path):
    class FewClasses(Csv):
        most_classes = 20

    frame = people()
    path = write(frame.assign(id=[f"h{i}" for i in range(len(frame))]), tmp_path / "t.csv")
    with pytest.raises(uids.UidsError, match="column 'id' has more than 20 different values"):
        FewClasses(train=path, target="id").load()


def test_progress_is_told_once_for_each_pass(told, tmp_path):
    """In bytes of text, with 0 in all where they are not known; in rows of Parquet."""
    frame = pd.DataFrame({"a": [*range(50)] * 2, "y": [0, 1] * 50})
    plain, packed, rows = (
        write(frame, tmp_path / f"t.{end}") for end in ("csv", "csv.gz", "parquet")
    )
    size = (tmp_path / "t.csv").stat().st_size
    assert 256 < size < 512
    for cls, path, steps in (
        (CsvInBatches, plain, [("read t.csv", 256, size), ("read t.csv", size, size)] * 3),
        (CsvInBatches, packed, [("read t.csv.gz", 256, 0), ("read t.csv.gz", 512, 0)] * 3),
        (
            ParquetInBatches,
            rows,
            [("read t.parquet", min(k, 100), 100) for k in range(3, 103, 3)] * 2,
        ),
    ):
        told.clear()
        cls(train=path).load()
        assert told == steps


def test_a_table_from_the_command_line(cli, tmp_path):
    path = write(people(200), tmp_path / "t.csv")
    code, out, err = cli("dataset=csv", f"dataset.train={path}", "dataset.id=id", "repeats=1")
    assert code == 0, err
    assert "kept 95 of 100 training rows" in out
    code, _, err = cli("dataset=csv", f"dataset.train={path}", "dataset.target=lable")
    assert code == 1
    assert "dataset.target: unknown column 'lable'. Did you mean 'label'?" in err


@pytest.mark.parametrize("kind", ["csv", "libsvm", "npz", "parquet"])
def test_a_pattern_is_not_taken_for_a_file(tmp_path, kind):
    (tmp_path / "part-0.txt").touch()
    with pytest.raises(uids.UidsError, match=r"part-\*\.txt'; it must name a single file, not a p"):
        REGISTRIES["dataset"].build(kind, train=f"{tmp_path}/part-*.txt").load()
