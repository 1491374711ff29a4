"""Files by globs and addresses: X, y and what is learned against the core's readers of one file."""

from itertools import pairwise

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from uids_dask import Dask
from uids_dask.cluster import forget
from uids_dask.libsvm import DaskLibsvm, sources_of
from uids_dask.tables import DaskCsv, DaskParquet

import uids
from uids import testing
from uids.datasets.formats.csv import Csv
from uids.datasets.formats.libsvm import Libsvm
from uids.datasets.formats.parquet import Parquet
from uids.errors import UidsError

N = 240


def frame():
    """Of each kind of column; the last partitions have values that the first lack."""
    rng = np.random.default_rng(0)
    town = np.array(["Ulm", "Bonn", None, "Kiel"], dtype=object)[np.arange(N) * 4 // N]
    days = np.datetime64("2024-01-01") + np.arange(N) * 3
    age = rng.normal(50, 10, N).round(2)
    return pa.table(
        {
            "key": [f"k{i}" for i in range(N)],
            "age": pa.array(age, mask=rng.random(N) < 0.1),
            "town": town.tolist(),
            "since": days.astype(str).tolist(),
            "code": rng.choice(["1.5", "2.5"], N).tolist(),
            "note": rng.choice(["red car", "blue car", "old house"], N).tolist(),
            "half": np.where(np.arange(N) % 3 == 1, "validation", "train").tolist(),
            "y": rng.choice(["yes", "no"], N).tolist(),
        }
    )


def write(form, folder):
    table, cuts = frame(), [0, 70, 71, 160, N]
    for i, (a, b) in enumerate(pairwise(cuts)):
        if form == "csv":
            pa_csv.write_csv(table[a:b], folder / f"part-{i}.csv")
        else:
            pq.write_table(table[a:b], folder / f"part-{i}.parquet", row_group_size=30)
    whole = folder / f"all.{form}"
    pa_csv.write_csv(table, whole) if form == "csv" else pq.write_table(table, whole)
    return f"{folder}/part-*.{form}", str(whole)


def plain(X):
    return X.toarray() if sp.issparse(X) else X


def fetched(X):
    return plain(X.fetch(np.arange(X.shape[0])))


@pytest.mark.parametrize(
    ("form", "ours", "core"), [("csv", DaskCsv, Csv), ("parquet", DaskParquet, Parquet)]
)
def test_tables_are_encoded_as_one_file_is(backend, tmp_path, form, ours, core):
    parts, whole = write(form, tmp_path)
    keys = {"target": "y", "id": "key", "part": "half", "text": ["note"]}
    size = {"partition": "1kB"} if form == "parquet" else {}
    data = ours(parts, **keys, **size).load_for(backend)
    right = core(whole, **keys).load()
    assert len(data.X.blocks.heights) == (10 if form == "parquet" else 4)
    np.testing.assert_allclose(fetched(data.X), plain(right.X), atol=1e-12)
    np.testing.assert_array_equal(data.y, right.y)
    assert data.features == right.features
    assert data.encoding.ids.equals(right.encoding.ids)
    assert [c.kind for c in data.encoding.columns] == [c.kind for c in right.encoding.columns]
    for part, rows in right.part_rows.items():
        np.testing.assert_array_equal(data.part_rows[part], rows)
    assert data.X.sparse


def test_a_file_whose_columns_are_others_is_named(backend, tmp_path):
    parts, _ = write("csv", tmp_path)
    (tmp_path / "part-2.csv").write_text("a,y\n1,yes\n")
    with pytest.raises(UidsError, match=r"part-2\.csv lacks the column 'age'") as bad:
        DaskCsv(parts, target="y", id="key", part="half").load_for(backend)
    assert "\n" not in str(bad.value)
    (tmp_path / "part-2.csv").write_bytes(b"\xff\xfe\x00 no table at all")
    with pytest.raises(UidsError, match=r"part-2\.csv"):
        DaskCsv(parts, target="y", id="key", part="half").load_for(backend)


def test_files_are_cut_at_lines(backend, written):
    folder = written("sparse")
    given = DaskLibsvm(f"{folder}/all.txt", partition="3kB")
    sources = sources_of(given.files()["train"], 3000)
    assert len(sources) > 8
    data, right = given.load_for(backend), Libsvm(f"{folder}/all.txt").load()
    assert len(data.X.blocks.heights) == len(sources)
    np.testing.assert_array_equal(fetched(data.X), right.X.toarray())
    np.testing.assert_array_equal(data.y, right.y)


def test_addresses_of_other_stores(written, tmp_path):
    """In memory, which workers in threads share with this process; packed, too."""
    near = Dask(workers=2, processes=False, small=0)
    store = fsspec.filesystem("memory")
    folder = written("sparse")
    for i, name in enumerate(sorted(folder.glob("part-*.txt"))):
        with fsspec.open(f"memory://rows/part-{i}.txt.gz", "wb", compression="gzip") as file:
            file.write(name.read_bytes())
    parts, whole = write("csv", tmp_path)
    store.put(parts, "/tables/", auto_mkdir=True)
    try:
        data = DaskLibsvm("memory://rows/part-*.txt.gz").load_for(near)
        np.testing.assert_array_equal(
            fetched(data.X), Libsvm(f"{folder}/all.txt").load().X.toarray()
        )
        table = DaskCsv("memory://tables/part-*.csv", target="y", drop=["key", "half"]).load_for(
            near
        )
        np.testing.assert_allclose(
            fetched(table.X),
            plain(Csv(whole, target="y", drop=["key", "half"]).load().X),
            atol=1e-12,
        )
        before = DaskCsv("memory://tables/part-*.csv").fingerprint()
        store.pipe_file("/tables/part-0.csv", b"other,y\n1,2\n")
        assert DaskCsv("memory://tables/part-*.csv").fingerprint() != before
    finally:
        cluster = near.cluster()
        cluster.close()
        forget(cluster)
        store.rm("/rows", recursive=True)
        store.rm("/tables", recursive=True)


def test_they_pass_the_checks_of_data_sets(backend, written, monkeypatch):
    monkeypatch.setattr(DaskLibsvm, "load", lambda self: self.load_for(backend))
    testing.check_dataset(DaskLibsvm(str(written("dense") / "all.txt")))


def test_another_backend_is_refused_in_one_line(backend, written):
    folder = written("dense")
    with pytest.raises(UidsError, match="read by Dask's workers: use backend=dask"):
        uids.run(DaskLibsvm(f"{folder}/part-*.txt"), backend="numba")
    data = DaskLibsvm(f"{folder}/part-*.txt").load_for(backend)
    with pytest.raises(UidsError, match=r"the rows lie on 2 workers .*: use backend=dask"):
        uids.run(data, backend="numpy")
    with pytest.raises(UidsError, match="noise_kind=features looks at X"):
        uids.run(data, backend=backend, noise=0.1, noise_kind="features")


def test_what_is_not_there_is_named():
    with pytest.raises(UidsError, match=r"dataset\.train: there is no file 'nowhere-\*\.txt'"):
        DaskLibsvm("nowhere-*.txt").files()
    with pytest.raises(ValueError, match="partition must be a size"):
        DaskLibsvm("a", partition="much")
    with pytest.raises(ValueError, match="address must be such as"):
        Dask(address="somewhere")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_label_that_is_missing_is_told_with_its_file_and_its_row_there(backend, tmp_path, form):
    """Also where a file is several partitions."""
    table = pa.table({"a": np.arange(90.0), "y": [None if k == 76 else k % 2 for k in range(90)]})
    for k in range(2):
        rows = table[45 * k : 45 * (k + 1)]
        if form == "csv":
            pa_csv.write_csv(rows, tmp_path / f"part-{k}.csv")
        else:
            pq.write_table(rows, tmp_path / f"part-{k}.parquet", row_group_size=10)
    made = DaskCsv if form == "csv" else DaskParquet
    with pytest.raises(UidsError, match=rf"part-1\.{form}: the label .* is missing in row 31, co"):
        made(f"{tmp_path}/part-*.{form}", partition="10B").load_for(backend)
