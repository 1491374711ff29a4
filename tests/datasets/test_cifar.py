"""CIFAR-10: an npz of two classes, and the site's archive, of which nothing is executed."""

import io
import pickle
import tarfile

import numpy as np
import pytest

import uids
from uids.datasets.public.cifar import batch
from uids.registry import REGISTRIES

DATASETS = REGISTRIES["dataset"]


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
