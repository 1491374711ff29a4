"""Loaders on small files of each format, and the real files against the numbers of reference."""

import bz2
import gzip
import json
import lzma
import mmap

import numpy as np
import pytest
import real_data
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import uids
from uids.datasets.public.download import File, locate
from uids.registry import REGISTRIES
from uids.system.folders import cache_folder

DATASETS = REGISTRIES["dataset"]


def svmlight(path, n=30, d=6, seed=0, labels=(-1, 1)):
    rng = np.random.default_rng(seed)
    X = sp.csr_matrix(rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6))
    y = np.array(labels)[rng.integers(0, len(labels), n)]
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return X, y


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)],
)
def test_libsvm_files_of_ones_own(tmp_path, suffix, pack):
    X, y = svmlight(tmp_path / "plain", d=6)
    wide, labels = svmlight(tmp_path / "other", n=12, d=9, seed=1)
    train, test = tmp_path / f"train{suffix}", tmp_path / f"test{suffix}"
    train.write_bytes(pack((tmp_path / "plain").read_bytes()))
    test.write_bytes(pack((tmp_path / "other").read_bytes()))
    loaded = DATASETS.build("libsvm", train=str(train), test=str(test)).load()
    assert loaded.X.shape == (30, 9)  # the widest of the files
    np.testing.assert_allclose(loaded.X[:, :6].toarray(), X.toarray())
    np.testing.assert_array_equal(loaded.y, y)
    np.testing.assert_allclose(loaded.test[0].toarray(), wide.toarray())
    np.testing.assert_array_equal(loaded.test[1], labels)
    assert loaded.validation is None


def test_a_file_is_parsed_once_and_then_mapped(tmp_path, monkeypatch):
    svmlight(tmp_path / "train")
    component = DATASETS.build("libsvm", train=str(tmp_path / "train"))
    first = component.load()
    with monkeypatch.context() as patch:
        patch.setattr("uids.datasets.formats.libsvm.parse", lambda *_: pytest.fail("parsed again"))
        again = component.load()
    np.testing.assert_array_equal(first.X.toarray(), again.X.toarray())
    for array in (again.X.data, again.X.indices, again.X.indptr):
        while isinstance(array, np.ndarray):
            array = array.base
        assert isinstance(array, mmap.mmap)  # no copy of it in memory
    svmlight(tmp_path / "train", n=31)  # a changed file is another file
    assert component.load().X.shape[0] == 31
    assert not list((cache_folder() / "parsed").glob(".parsing-*"))


@pytest.mark.parametrize("sparse", [False, True])
def test_npz_archives_of_ones_own(tmp_path, sparse):
    X = sp.random(20, 5, 0.5, format="csr", random_state=0)
    y = np.arange(20) % 3
    if sparse:
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        np.savez(tmp_path / "a.npz", y=y, **parts)
        sp.save_npz(tmp_path / "scipy.npz", X)  # scipy's own names, and its format
        with np.load(tmp_path / "scipy.npz") as own:
            np.savez(tmp_path / "b.npz", y=y, **own)
    else:
        np.savez(tmp_path / "a.npz", y=y, X=X.toarray())
        np.savez(tmp_path / "b.npz", y=y, X=X.toarray())
    paths = {"train": str(tmp_path / "a.npz"), "validation": str(tmp_path / "b.npz")}
    loaded = DATASETS.build("npz", **paths).load()
    for found in (loaded.X, loaded.validation[0]):
        assert sp.issparse(found) == sparse
        np.testing.assert_array_equal(found.toarray() if sparse else found, X.toarray())
    assert loaded.test is None
    assert uids.run(DATASETS.build("npz", **paths), repeats=1).metrics["dataset"]["classes"] == 3


def test_a_narrow_sparse_part_is_widened(tmp_path):
    for name, d in (("a", 3), ("b", 5)):
        X = sp.random(9, d, 0.5, format="csr", random_state=0)
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        np.savez(tmp_path / f"{name}.npz", y=np.arange(9) % 2, **parts)
    paths = {"train": str(tmp_path / "a.npz"), "test": str(tmp_path / "b.npz")}
    loaded = DATASETS.build("npz", **paths).load()
    assert loaded.X.shape[1] == loaded.test[0].shape[1] == 5


def test_files_that_cannot_be_read_are_one_line(tmp_path):
    (tmp_path / "words").write_text("these are words\n")
    np.savez(tmp_path / "odd.npz", a=1)
    np.savez(tmp_path / "code.npz", y=np.array([print], dtype=object), X=np.ones((1, 1)))
    for name, path, message in [
        ("libsvm", "nowhere", "dataset.train: there is no file"),
        ("libsvm", "words", "not LIBSVM text"),
        ("npz", "nowhere", "dataset.train: there is no file"),
        ("npz", "words", "dataset.train: cannot read"),
        ("npz", "odd.npz", "must hold y and X, or .* it holds a"),
        ("npz", "code.npz", "cannot read .* allow_pickle=False"),
    ]:
        with pytest.raises(uids.UidsError, match=message) as error:
            DATASETS.build(name, train=str(tmp_path / path)).load()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "rows", "features", "classes"),
    [("breast_cancer", 569, 30, 2), ("digits", 1797, 64, 10), ("wine", 178, 13, 3)],
)
def test_embedded_sets_are_scaled_unless_told_otherwise(name, rows, features, classes):
    scaled, raw = (DATASETS.build(name, scale=scale).load() for scale in (True, False))
    assert scaled.X.shape == raw.X.shape == (rows, features)
    assert len(np.unique(raw.y)) == classes
    np.testing.assert_array_equal(scaled.y, raw.y)
    if name == "digits":
        np.testing.assert_array_equal(scaled.X, raw.X / 16)
        assert (scaled.X.min(), scaled.X.max()) == (0, 1)
    else:
        np.testing.assert_allclose(scaled.X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(scaled.X.std(axis=0), 1)
    metrics = uids.run(name, repeats=1).metrics
    assert metrics["dataset"]["classes"] == classes
    assert metrics["full"]["test"]["accuracy"] > 0.9


def write_idx(path, array):
    head = b"\0\0\x08" + bytes([array.ndim]) + np.array(array.shape, ">i4").tobytes()
    path.write_bytes(gzip.compress(head + array.tobytes()))


def test_mnist(data):
    rng = np.random.default_rng(0)
    labels = {"train": np.tile([1, 7, 3], 1700), "t10k": np.tile([7, 1, 5], 10)}
    for kind, y in labels.items():
        write_idx(data / f"{kind}-labels-idx1-ubyte.gz", y.astype(np.uint8))
        images = rng.integers(0, 256, (len(y), 2, 2)).astype(np.uint8)
        images[:, 0, 0] = y
        write_idx(data / f"{kind}-images-idx3-ubyte.gz", images)
    found = DATASETS.build("mnist_1_7").load()
    left = labels["train"][5000:]  # the first 5,000 are left out
    np.testing.assert_array_equal(found.y, left[left != 3] == 1)
    np.testing.assert_allclose(found.X[:, 0], left[left != 3] / 255)
    assert found.test[0].shape == (20, 4)
    (data / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(b"nonsense"))
    with pytest.raises(uids.UidsError, match="is not an idx file"):
        DATASETS.build("mnist_1_7").load()


def test_svhn(data):
    for name in ("SVHN.xz", "SVHN.t.xz"):
        svmlight(data / "plain", n=40, labels=(1, 7, 9))
        (data / name).write_bytes(lzma.compress((data / "plain").read_bytes()))
    found = DATASETS.build("svhn_1_7").load()
    assert set(found.y) == {0, 1}
    assert found.X.shape[1] == 3072


def test_other_names_of_a_file(data):
    svmlight(data / "plain")
    (data / "news20-rebuilt.libsvm.bz2").write_bytes(bz2.compress((data / "plain").read_bytes()))
    assert DATASETS.build("news20").load().X.shape == (30, 6)


def test_what_is_not_here_is_downloaded_and_checked(data, monkeypatch, told):
    asked = {}

    def retrieve(url, known_hash, fname, path, progressbar):
        asked.update(url=url, known_hash=known_hash, fname=fname)
        (path / fname).write_text("1 1:1\n")
        progressbar.total = 6  # as pooch does it: 4 bytes at a time, and all at the end
        progressbar.update(4)
        progressbar.update(4)
        progressbar.reset()
        progressbar.update(6)
        progressbar.close()
        return str(path / fname)

    monkeypatch.setattr("pooch.retrieve", retrieve)
    path = locate(File("a", "https://example.org/a", "ab" * 32))
    assert path == data / "a"
    assert asked["known_hash"] == "sha256:" + "ab" * 32
    assert told == [("download a", done, 6) for done in (4, 6, 6)]
    monkeypatch.setattr("pooch.retrieve", lambda *_, **__: pytest.fail("downloaded again"))
    assert locate(File("a", "https://example.org/a")) == path


def test_offline_one_line_says_which_file_to_put_where(data, monkeypatch):
    def fail(*_, **__):
        raise OSError("no\nroute")

    monkeypatch.setattr("pooch.retrieve", fail)
    with pytest.raises(uids.UidsError) as error:
        DATASETS.build("real_sim").load()
    assert f"(no route): put the file real-sim.bz2 into {data}" in str(error.value)
    with pytest.raises(uids.UidsError, match="put the file cifar-10-python"):
        DATASETS.build("cifar10_cat_dog").load()
    for name, file in (("criteo", "criteo/train.txt"), ("avazu_app", "avazu/train.csv")):
        with pytest.raises(uids.UidsError, match=f"by a program: put the file {file} into"):
            DATASETS.build(name).load()


def test_the_list_of_data_sets(cli, data):
    svmlight(data / "diabetes_scale")
    code, out, _ = cli("datasets", "--json")
    assert code == 0
    found = {row["name"]: row for row in json.loads(out)}
    assert found["diabetes_scale"]["here"] == "yes"
    assert found["real_sim"]["here"] == "no"
    assert found["real_sim"]["rows"] == "72,309"
    assert found["breast_cancer"]["here"] == "yes"
    code, out, _ = cli("datasets")
    assert code == 0
    assert str(data) in out


def test_ones_own_files_from_the_command_line(cli, tmp_path):
    svmlight(tmp_path / "train", n=200)
    code, out, err = cli("dataset=libsvm", f"dataset.train={tmp_path / 'train'}", "repeats=1")
    assert code == 0, err
    assert "kept 95 of 100 training rows" in out
    code, _, err = cli("dataset=libsvm")
    assert (code, err) == (1, "uids: dataset.train must be given: dataset.train=…\n")


def test_a_sweep_over_changed_data_is_run_again(cli, tmp_path):
    svmlight(tmp_path / "train", n=60)
    words = ("dataset=libsvm", f"dataset.train={tmp_path / 'train'}", "repeats=1", "-m")
    assert cli(*words)[1].count("done: ") == 1
    assert cli(*words)[1].count("done: ") == 0
    svmlight(tmp_path / "train", n=61)
    assert cli(*words)[1].count("done: ") == 1


def test_the_split_of_the_paper(data):
    svmlight(data / "breast-cancer_scale", n=683, labels=(2, 4))
    component = DATASETS.build("breast_cancer_scale")
    result = uids.run(component, split={"kind": "paper"}, repeats=1)
    assert result.metrics["dataset"]["rows"] == {"train": 350, "validation": 150, "test": 183}
    np.testing.assert_array_equal(result.row, np.arange(350))
    with pytest.raises(uids.UidsError, match="the paper's split of this data set is not known"):
        uids.run(split={"kind": "paper"})


# Full and Dropout at ratio 0.95: test logloss, validation logloss of Full, Dropout, Γ of Dropout,
# and the bounds of φ C / n.
REFERENCE = {
    "breast_cancer_scale": (0.091384, 0.105347, 0.078523, 0.0494, -0.0107406, 0.0405523),
    "diabetes_scale": (0.516998, 0.526778, 0.508280, 0.1955, -0.0125606, 0.0429710),
    "adult": (0.338259, 0.324872, 0.353866, 5.868, -0.0363269, 0.0364335),
    "mnist_1_7": (0.024518, 0.023132, 0.022264, 1.0007, -0.1127025, 0.0774082),
    "cifar10_cat_dog": (0.684729, 0.702089, 0.685054, 3.863, -0.1043033, 0.0978089),
    "covtype": (0.693557, 0.641908, 0.77448, 64.49, -4.47615, 2.98159),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_the_numbers_of_reference(name):
    real_data.folder()
    if not DATASETS.load(name).here():
        pytest.skip(f"{name} is not in UIDS_DATA")
    model = REGISTRIES["model"].build("logreg", fit_intercept=False)
    split = {"kind": "paper"}
    result = uids.run(name, model, sampler="dropout", draw="rounds", split=split)
    full, validation, dropout, gamma, low, high = REFERENCE[name]
    metrics = result.metrics
    assert metrics["full"]["test"]["logloss"] == pytest.approx(full, abs=1e-6)
    assert metrics["full"]["validation"]["logloss"] == pytest.approx(validation, abs=1e-6)
    assert metrics["subset"]["test"]["logloss"] == pytest.approx(dropout, abs=5e-6)
    assert metrics["subset"]["gamma"] == pytest.approx(gamma, rel=1e-3)
    scaled = result.influence * 0.1 / len(result.row)
    assert scaled.min() == pytest.approx(low, rel=5e-6)
    assert scaled.max() == pytest.approx(high, rel=5e-6)
