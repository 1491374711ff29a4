"""The public data sets of the paper, each with its address, size, preprocessing and split.

CIFAR-10 is in ``cifar.py``, Criteo and Avazu are in ``click_logs.py``.

``paper_rows`` is N of the paper's split: the first N rows of the training file are training and
validation rows, of which the last 30 % are for validation; the rest, or the file of its own, is for
test. Where it is None, the paper's split is not known.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from uids.datasets import Data
from uids.datasets.files import File, Parts, find, fingerprint, locate, parsed
from uids.datasets.formats.libsvm import as_data, read
from uids.errors import UidsError

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"


@dataclass(frozen=True)
class PublicSet:
    """LIBSVM text in one file, or in one for training and one for test."""

    files: ClassVar[dict[str, File]]
    shape: ClassVar[tuple[int, int]]  # rows in all, features
    megabytes: ClassVar[float]  # to download
    paper_rows: ClassVar[int | None] = None
    features: ClassVar[int | None] = None  # where the files do not show all of them

    @classmethod
    def here(cls) -> bool:
        return all(find(file) is not None for file in cls.files.values())

    def fingerprint(self) -> Any:
        return fingerprint([path for path in map(find, self.files.values()) if path])

    def load(self) -> Data:
        paths = {part: locate(file) for part, file in self.files.items()}
        return as_data(read(paths, self.features), self.paper_rows)


@dataclass(frozen=True)
class BreastCancerScale(PublicSet):
    """Wisconsin breast cancer, columns scaled to [−1, 1]; column 1 is the sample's number."""

    files = {"train": File("breast-cancer_scale", f"{LIBSVM}/binary/breast-cancer_scale")}
    shape = (683, 10)
    megabytes = 0.1
    paper_rows = 500


@dataclass(frozen=True)
class DiabetesScale(PublicSet):
    """Pima diabetes, columns scaled to [−1, 1]."""

    files = {"train": File("diabetes_scale", f"{LIBSVM}/binary/diabetes_scale")}
    shape = (768, 8)
    megabytes = 0.1
    paper_rows = 500


@dataclass(frozen=True)
class Adult(PublicSet):
    """UCI Adult as LIBSVM's a1a. The paper trains on a1a.t and tests on a1a."""

    files = {
        "train": File("a1a.t", f"{LIBSVM}/binary/a1a.t"),
        "test": File("a1a", f"{LIBSVM}/binary/a1a"),
    }
    shape = (32_561, 123)
    megabytes = 2.3
    paper_rows = 30_956
    features = 123


@dataclass(frozen=True)
class Covtype(PublicSet):
    """Forest cover, class 2 against the rest, columns scaled to [0, 1]; in geographic order, so
    that the paper's sequential split is a shift of distribution."""

    files = {
        "train": File(
            "covtype.libsvm.binary.scale.bz2", f"{LIBSVM}/binary/covtype.libsvm.binary.scale.bz2"
        )
    }
    shape = (581_012, 54)
    megabytes = 8.2
    paper_rows = 400_000


@dataclass(frozen=True)
class News20(PublicSet):
    """20 newsgroups, two halves of them; unit rows."""

    files = {
        "train": File(
            "news20.binary.bz2",
            f"{LIBSVM}/binary/news20.binary.bz2",
            others=("news20-rebuilt.libsvm.bz2",),
        )
    }
    shape = (19_996, 1_355_191)
    megabytes = 43.8


@dataclass(frozen=True)
class RealSim(PublicSet):
    """Real against simulated auto and aviation newsgroups."""

    files = {"train": File("real-sim.bz2", f"{LIBSVM}/binary/real-sim.bz2")}
    shape = (72_309, 20_958)
    megabytes = 30.0


@dataclass(frozen=True)
class SkinNonskin(PublicSet):
    """Skin or not by the colour of a pixel, 0 to 255. The rows are ordered by class: split.kind
    sequential makes no sense here."""

    files = {
        "train": File("skin_nonskin", f"{LIBSVM}/binary/skin_nonskin", others=("skin_nonskin.bz2",))
    }
    shape = (245_057, 3)
    megabytes = 4.7


def two_classes(X: Any, y: Any, positive: int, negative: int) -> tuple[Any, Any]:
    """The rows of two classes, y being 1 and 0, and pixels from 0 to 255 brought to [0, 1]."""
    chosen = (y == positive) | (y == negative)
    return X[chosen].reshape(int(chosen.sum()), -1) / 255.0, (y[chosen] == positive).astype(int)


@dataclass(frozen=True)
class Svhn17(PublicSet):
    """Street-view house numbers, 1 (positive) against 7; pixels / 255."""

    files = {
        "train": File("SVHN.xz", f"{LIBSVM}/multiclass/SVHN.xz"),
        "test": File("SVHN.t.xz", f"{LIBSVM}/multiclass/SVHN.t.xz"),
    }
    shape = (99_289, 3_072)
    megabytes = 820.0

    def load(self) -> Data:
        paths = {part: locate(file) for part, file in self.files.items()}
        parts = {}
        for part, (X, y) in read(paths, 3072).items():
            chosen = np.flatnonzero((y == 1) | (y == 7))
            parts[part] = X[chosen] / 255.0, (y[chosen] == 1).astype(int)
        return as_data(parts, self.paper_rows)


@dataclass(frozen=True)
class Mnist17(PublicSet):
    """MNIST, 1 (positive) against 7; pixels / 255. The paper leaves out the first
    5,000 of the 60,000 training images; so does this set, to be the same everywhere."""

    files = {
        "train-X": File("train-images-idx3-ubyte.gz", f"{MNIST}/train-images-idx3-ubyte.gz"),
        "train-y": File(
            "train-labels-idx1-ubyte.gz",
            f"{MNIST}/train-labels-idx1-ubyte.gz",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        "test-X": File(
            "t10k-images-idx3-ubyte.gz",
            f"{MNIST}/t10k-images-idx3-ubyte.gz",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        "test-y": File(
            "t10k-labels-idx1-ubyte.gz",
            f"{MNIST}/t10k-labels-idx1-ubyte.gz",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    }
    shape = (14_057, 784)
    megabytes = 11.6
    paper_rows = 11_894

    def load(self) -> Data:
        paths = {name: locate(file) for name, file in self.files.items()}

        def parse() -> Parts:
            arrays = {name: idx(path) for name, path in paths.items()}
            skip = 5000
            train = two_classes(arrays["train-X"][skip:], arrays["train-y"][skip:], 1, 7)
            return {"train": train, "test": two_classes(arrays["test-X"], arrays["test-y"], 1, 7)}

        return as_data(parsed(list(paths.values()), "mnist_1_7", parse), self.paper_rows)


def idx(path: Path) -> Any:
    """An array in MNIST's own format: a magic number with its rank, its shape, its bytes."""
    raw = gzip.decompress(path.read_bytes())
    if len(raw) < 8 or raw[:3] != b"\0\0\x08":
        raise UidsError(f"{path} is not an idx file of bytes")
    rank = raw[3]
    shape = np.frombuffer(raw, ">i4", count=rank, offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(shape)
