"""Data files with seeded damage: they are read, or refused in one line."""

import gzip
import io
import shutil
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from mutated import mutants

import uids
from uids.datasets.adopted import AdoptedDataset
from uids.datasets.public import cifar, mnist
from uids.errors import ComponentError, UidsWarning
from uids.registry import REGISTRIES

CSV = b'a,b,"c d",y\n' + b"".join(
    b"%d,%s,%d.5e1,%d\n" % (i, b"uvw"[i % 3 : i % 3 + 1], i * i, i % 2) for i in range(20)
)
SVM = b"".join(b"%d 1:%d.25 3:1e-2 %d:1 # c\n" % (i % 2, i, 4 + i % 5) for i in range(20))


def parquet(compression):
    table = pa.table({"a": np.arange(20.0), "b": list("uvwx" * 5), "y": np.arange(20) % 2})
    file = io.BytesIO()
    pq.write_table(table, file, compression=compression)
    return file.getvalue()


def npz(compressed, sparse):
    X = sp.random(20, 5, density=0.5, format="csr", random_state=np.random.default_rng(0))
    arrays = {"X": X.toarray()}
    if sparse:
        arrays = {name: getattr(X, name) for name in ("data", "indices", "indptr", "shape")}
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, y=np.arange(20) % 2, **arrays)
    return file.getvalue()


FILES = {
    "rows.csv": ("csv", lambda: CSV),
    "rows.csv.gz": ("csv", lambda: gzip.compress(CSV, mtime=0)),
    "rows.svm": ("libsvm", lambda: SVM),
    "rows.svm.gz": ("libsvm", lambda: gzip.compress(SVM, mtime=0)),
    "rows.parquet": ("parquet", lambda: parquet("none")),
    "packed.parquet": ("parquet", lambda: parquet("snappy")),
    "dense.npz": ("npz", lambda: npz(False, False)),
    "sparse.npz": ("npz", lambda: npz(False, True)),
    "packed.npz": ("npz", lambda: npz(True, True)),
    "mapped.npz": ("npz", lambda: npz(True, True)),
    "mapped-dense.npz": ("npz", lambda: npz(False, False)),
}


def load(name, path):
    """As a run loads it: None where it was refused in one line."""
    chosen = REGISTRIES["dataset"].choose(REGISTRIES["dataset"].build(name, train=str(path)))
    line = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UidsWarning)
            return AdoptedDataset(chosen).load()
    except ComponentError:
        raise  # not meant for the user
    except uids.UidsError as error:
        line = str(error)
    assert "\n" not in line
    return None


@pytest.mark.parametrize("file", FILES)
def test_a_damaged_file_is_read_or_refused_in_one_line(file, tmp_path, tally, monkeypatch):
    if file.startswith("mapped"):  # as if it were large beside the memory
        monkeypatch.setattr("uids.datasets.formats.npz.memory", lambda: 0)
    name, content = FILES[file]
    path = tmp_path / file
    path.write_bytes(content())
    assert load(name, path) is not None
    for raw in mutants(content()):
        path.write_bytes(raw)
        data = load(name, path)
        tally("damaged data files", "refused in one line" if data is None else "read")
        if data is not None:
            assert data.X.shape[0] == len(data.y)


def test_damaged_files_of_mnist(tmp_path):
    images = bytes([0, 0, 8, 3, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 2, *range(24)])
    path = tmp_path / "images.gz"
    for raw in mutants(gzip.compress(images, mtime=0)):
        path.write_bytes(raw)
        refused(mnist.idx, path)
    for raw in mutants(images, seed=1):
        path.write_bytes(gzip.compress(raw, mtime=0))
        refused(mnist.idx, path)


def test_damaged_batches_of_cifar(tmp_path):
    import pickle

    pixels = np.zeros((4, 3072), dtype=np.uint8)
    raw = pickle.dumps({b"data": pixels.tobytes(), b"labels": [3, 5, 1, 3]}, protocol=2)
    assert len(cifar.batch(raw, "here")[1]) == 4
    for mutant in mutants(raw):
        refused(cifar.batch, mutant, "here")


def refused(read, *arguments):
    """The call gives something, or one line."""
    line = ""
    try:
        read(*arguments)
    except uids.UidsError as error:
        line = str(error)
    assert "\n" not in line


@pytest.mark.parametrize(
    ("name", "write", "line"),
    [
        ("parquet", "two columns", "has two columns 'a': rename one of them"),
        ("npz", "npy", r"is a single array \(.npy\), not an archive: it must hold y and X"),
        ("npz", "nothing", "it holds nothing"),
        ("npz", "others", "it holds u, v"),
    ],
)
def test_clear_lines(name, write, line, tmp_path):
    path = tmp_path / f"rows.{name}"
    if write == "two columns":
        arrays = [pa.array([1.0, 2]), pa.array([3.0, 4]), pa.array([0, 1])]
        pq.write_table(pa.Table.from_arrays(arrays, ["a", "a", "y"]), path)
    elif write == "npy":
        with open(path, "wb") as file:
            np.save(file, np.ones((3, 2)))
    else:
        np.savez(path, **({} if write == "nothing" else {"u": np.ones(2), "v": np.ones(2)}))
    dataset = REGISTRIES["dataset"].build(name, train=str(path))
    with pytest.raises(uids.UidsError, match=line):
        dataset.load()


def test_an_archive_larger_than_the_disk_is_not_unpacked(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "rows.npz", X=np.zeros((2000, 100)), y=np.arange(2000) % 2)
    assert (tmp_path / "rows.npz").stat().st_size < 20_000
    monkeypatch.setattr("uids.datasets.formats.npz.memory", lambda: 2**20)
    usage = shutil.disk_usage(tmp_path)._replace(free=2**20)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    with pytest.raises(uids.UidsError, match=r"needs 0.0 GiB on the disk, and .* XDG_CACHE_HOME"):
        REGISTRIES["dataset"].build("npz", train=str(tmp_path / "rows.npz")).load()


def test_rows_to_predict_that_are_larger_than_the_machine_are_not_read(tmp_path, monkeypatch):
    from uids.datasets.formats.npz import read_rows
    from uids.system import memory

    np.savez_compressed(tmp_path / "rows.npz", X=np.zeros((2000, 100)))
    monkeypatch.setattr(memory, "memory", lambda: 2**20)
    with pytest.raises(uids.UidsError, match=r"needs 0.0 GiB, and this machine has 0.0 GiB"):
        read_rows(tmp_path / "rows.npz", 100)


@pytest.mark.parametrize("part", ["X", "y"])
def test_masked_arrays_are_refused(part):
    X, y = np.ones((4, 2)), np.array([0, 1, 0, 1])
    free = np.ma.masked_array(X, mask=False)
    assert uids.run(dataset=(free, y), split={"test": 0}, repeats=1).metrics["status"] == "ok"
    masked = {"X": X, "y": y}
    masked[part] = np.ma.masked_equal(masked[part], 1)
    with pytest.raises(uids.UidsError, match=f"{part} is a masked array with . masked values"):
        uids.run(dataset=(masked["X"], masked["y"]))
