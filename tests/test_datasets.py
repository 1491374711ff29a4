"""Loaders on small files of each format, and the real files against the numbers of reference."""

import bz2
import gzip
import io
import json
import lzma
import mmap
import pickle
import tarfile

import numpy as np
import pytest
import real_data
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import uids
from uids.datasets import files
from uids.datasets.files import File, locate
from uids.datasets.public.cifar import batch
from uids.registry import REGISTRIES

DATASETS = REGISTRIES["dataset"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("UIDS_DATA", str(folder))
    return folder


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
    assert not list((files.cache_folder() / "parsed").glob(".parsing-*"))


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


def test_cifar(data):
    X = np.arange(24, dtype=np.uint8).reshape(4, 6)
    y = np.array([1, 0, 1, 0], dtype=np.uint8)
    np.savez(data / "cifar10_cat_dog.npz", X_train=X, y_train=y, X_test=X[:2], y_test=y[:2])
    found = DATASETS.build("cifar10_cat_dog").load()
    np.testing.assert_allclose(found.X, X / 255)
    np.testing.assert_array_equal(found.test[1], [1, 0])


def cifar_batch(n, seed, text=str, labels_first=False, order="C"):
    """A batch as in the archive: each image is red, green, blue, 1,024 bytes each."""
    rng = np.random.default_rng(seed)
    rows = np.asarray(rng.integers(0, 256, (n, 3072)).astype(np.uint8), order=order)
    labels = rng.integers(3, 6, n).tolist()
    content = {"batch_label": b"a batch", "labels": labels, "data": rows, "filenames": ["a"] * n}
    keys = ["labels", "data"] if labels_first else ["batch_label", "data", "labels", "filenames"]
    return {text(key): content[key] for key in keys}


def cifar_archive(path, batches):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in batches.items():
            raw = content if isinstance(content, bytes) else pickle.dumps(content, protocol=2)
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))


CIFAR_NAMES = ["data_batch_4", "test_batch", *(f"data_batch_{k}" for k in (1, 2, 3, 5))]


@pytest.mark.parametrize("text", [str, str.encode])
@pytest.mark.parametrize("labels_first", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_cifar_from_the_archive(data, text, labels_first, order):
    batches = {
        name: cifar_batch(8, seed, text, labels_first, order)
        for seed, name in enumerate(CIFAR_NAMES)
    }
    cifar_archive(data / "cifar-10-python.tar.gz", {"readme.html": b"words", **batches})
    assert DATASETS.load("cifar10_cat_dog").here()
    found = DATASETS.build("cifar10_cat_dog").load()
    in_order = [batches[f"data_batch_{k}"] for k in (1, 2, 3, 4, 5)]
    for (X, y), parts in ((found.X, found.y), in_order), (found.test, [batches["test_batch"]]):
        labels = np.concatenate([part[text("labels")] for part in parts])
        rows = np.concatenate([part[text("data")] for part in parts])[labels != 4]
        np.testing.assert_array_equal(y, labels[labels != 4] == 3)
        image = np.array(X).reshape(-1, 32, 32, 3)
        for colour in range(3):
            plane = rows[:, 1024 * colour : 1024 * (colour + 1)].reshape(-1, 32, 32)
            np.testing.assert_array_equal(image[..., colour], plane / 255)


def test_a_batch_of_cifar_as_python_2_wrote_it():
    pixels = np.random.default_rng(0).integers(0, 256, 2 * 3072).astype(np.uint8).tobytes()
    raw = (
        b"\x80\x02}q\x01(U\x0bbatch_labelq\x02U\x15training batch 1 of 5q\x03U\x06labelsq\x04]q\x05"
        b"(K\x03K\x05eU\x04dataq\x06cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08"
        b"K\x00\x85U\x01b\x87Rq\x09(K\x01K\x02M\x00\x0c\x86cnumpy\ndtype\nq\x0aU\x02u1K\x00K\x01\x87R"
        b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
        b"T"
        + len(pixels).to_bytes(4, "little")
        + pixels
        + b"tbU\x09filenamesq\x0b]q\x0c(U\x01aU\x01beu."
    )
    known = pickle.loads(raw, encoding="latin1")  # noqa: S301
    images, labels = batch(raw, "here")
    assert labels.tolist() == known["labels"] == [3, 5]
    planes = known["data"].reshape(2, 3, 32, 32)
    np.testing.assert_array_equal(images, np.moveaxis(planes, 1, -1))


class Malice:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return (open, (str(self.target), "w"))


def test_nothing_in_the_archive_of_cifar_is_executed(data, tmp_path):
    pickle.loads(pickle.dumps(Malice(tmp_path / "executed"), protocol=2)).close()  # noqa: S301
    assert (tmp_path / "executed").exists()  # the trap works
    (tmp_path / "executed").unlink()
    batches = {name: cifar_batch(8, seed) for seed, name in enumerate(CIFAR_NAMES)}
    for content in (Malice(tmp_path / "executed"), {"x": Malice(tmp_path / "executed")}):
        cifar_archive(data / "cifar-10-python.tar.gz", {**batches, "data_batch_1": content})
        with pytest.raises(uids.UidsError, match="data_batch_1 is not a batch of CIFAR-10: it has"):
            DATASETS.build("cifar10_cat_dog").load()
    batches["data_batch_1"]["more"] = Malice(tmp_path / "executed")
    cifar_archive(data / "cifar-10-python.tar.gz", batches)
    DATASETS.build("cifar10_cat_dog").load()  # all that is wanted is there
    assert not (tmp_path / "executed").exists()


def test_an_archive_that_is_not_cifar_is_one_line(data):
    path = data / "cifar-10-python.tar.gz"
    batches = {name: cifar_batch(2, seed) for seed, name in enumerate(CIFAR_NAMES)}
    few = {"data": np.zeros((2, 3000), np.uint8), "labels": [3, 5]}
    strange = {"data": np.zeros((2, 3072), np.uint8), "labels": [3, 17]}
    for content, message in [
        (b"words", "is not CIFAR-10's archive: "),
        ({}, "it holds no data_batch_1"),
        ({**batches, "test_batch": b"no pickle"}, "test_batch is not a batch of CIFAR-10"),
        ({**batches, "test_batch": pickle.dumps(few, 2)[:900]}, "test_batch is not a batch of CIF"),
        ({**batches, "test_batch": few}, "it has 2 labels and 6000 bytes of pixels"),
        ({**batches, "test_batch": strange}, "is not a batch of CIFAR-10"),
    ]:
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            cifar_archive(path, content)
        with pytest.raises(uids.UidsError, match=message) as error:
            DATASETS.build("cifar10_cat_dog").load()
        assert "\n" not in str(error.value)


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


def test_what_is_not_here_is_downloaded_and_checked(data, monkeypatch):
    asked = {}

    def retrieve(url, known_hash, fname, path, progressbar):
        asked.update(url=url, known_hash=known_hash, fname=fname, progressbar=progressbar)
        (path / fname).write_text("1 1:1\n")
        return str(path / fname)

    monkeypatch.setattr("pooch.retrieve", retrieve)
    path = locate(File("a", "https://example.org/a", "ab" * 32))
    assert path == data / "a"
    assert asked["known_hash"] == "sha256:" + "ab" * 32
    assert asked["progressbar"] is False  # nobody is looking
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
