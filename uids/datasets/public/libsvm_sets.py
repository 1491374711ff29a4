"""The sets of the paper that are LIBSVM text, each with its address, size, preprocessing and split.

MNIST is in ``mnist.py``, CIFAR-10 in ``cifar.py``, Criteo and Avazu are in ``click_logs.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from uids.datasets.data import Data, Parts, as_data
from uids.datasets.formats.libsvm import read
from uids.datasets.public.download import File, locate
from uids.datasets.public.public_set import PublicSet

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"


@dataclass(frozen=True)
class LibsvmSet(PublicSet):
    """LIBSVM text in one file, or in one for training and one for test."""

    features: ClassVar[int | None] = None  # where the files do not show all of them

    def load(self) -> Data:
        return as_data(self.read(), self.paper_rows)

    def read(self) -> Parts:
        paths = {part: locate(file) for part, file in self.files.items()}
        return read(paths, self.features)


@dataclass(frozen=True)
class BreastCancerScale(LibsvmSet):
    """Wisconsin breast cancer, columns scaled to [−1, 1]; column 1 is the sample's number."""

    files = {"train": File("breast-cancer_scale", f"{LIBSVM}/binary/breast-cancer_scale")}
    shape = (683, 10)
    megabytes = 0.1
    paper_rows = 500


@dataclass(frozen=True)
class DiabetesScale(LibsvmSet):
    """Pima diabetes, columns scaled to [−1, 1]."""

    files = {"train": File("diabetes_scale", f"{LIBSVM}/binary/diabetes_scale")}
    shape = (768, 8)
    megabytes = 0.1
    paper_rows = 500


@dataclass(frozen=True)
class Adult(LibsvmSet):
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
class Covtype(LibsvmSet):
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
class News20(LibsvmSet):
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
class RealSim(LibsvmSet):
    """Real against simulated auto and aviation newsgroups."""

    files = {"train": File("real-sim.bz2", f"{LIBSVM}/binary/real-sim.bz2")}
    shape = (72_309, 20_958)
    megabytes = 30.0


@dataclass(frozen=True)
class SkinNonskin(LibsvmSet):
    """Skin or not by the colour of a pixel, 0 to 255. The rows are ordered by class: split.kind
    sequential makes no sense here."""

    files = {
        "train": File("skin_nonskin", f"{LIBSVM}/binary/skin_nonskin", others=("skin_nonskin.bz2",))
    }
    shape = (245_057, 3)
    megabytes = 4.7


@dataclass(frozen=True)
class Svhn17(LibsvmSet):
    """Street-view house numbers, 1 (positive) against 7; pixels / 255."""

    files = {
        "train": File("SVHN.xz", f"{LIBSVM}/multiclass/SVHN.xz"),
        "test": File("SVHN.t.xz", f"{LIBSVM}/multiclass/SVHN.t.xz"),
    }
    shape = (99_289, 3_072)
    megabytes = 820.0
    features = 3_072

    def read(self) -> Parts:
        parts = {}
        for part, (X, y) in super().read().items():
            chosen = np.flatnonzero((y == 1) | (y == 7))
            parts[part] = X[chosen] / 255.0, (y[chosen] == 1).astype(int)
        return parts
