"""MNIST, 1 against 7, from the files of its own format."""

from __future__ import annotations

import gzip
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from uids.datasets.data import Data, Parts, as_data
from uids.datasets.parsed import parsed
from uids.datasets.public.download import File, locate
from uids.datasets.public.pixels import two_classes
from uids.datasets.public.public_set import PublicSet
from uids.errors import UidsError, one_line

MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
Bytes = npt.NDArray[np.uint8]
SKIPPED = 5000  # training images that the paper leaves out, the first of the file


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
            for part in ("train", "test"):
                check_together(arrays[f"{part}-X"], arrays[f"{part}-y"], paths[f"{part}-X"])
            train = two_classes(arrays["train-X"][SKIPPED:], arrays["train-y"][SKIPPED:], 1, 7)
            return {"train": train, "test": two_classes(arrays["test-X"], arrays["test-y"], 1, 7)}

        return as_data(parsed(list(paths.values()), "mnist_1_7", parse), self.paper_rows)


def check_together(
    images: npt.NDArray[np.uint8], labels: npt.NDArray[np.uint8], path: Path
) -> None:
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise UidsError(
            f"{path}: the images have the shape {images.shape}, the labels {labels.shape}"
        )


def idx(path: Path) -> Any:
    """An array in MNIST's own format: a magic number with its rank, its shape, its bytes."""
    try:
        raw = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise UidsError(f"{path} cannot be read: {one_line(error)}") from error
    if len(raw) < 8 or raw[:3] != b"\0\0\x08":
        raise UidsError(f"{path} is not an idx file of bytes")
    rank = raw[3]
    shape = np.frombuffer(raw[4 : 4 + 4 * rank], ">u4").tolist() if len(raw) > 4 + 4 * rank else []
    if len(raw) - 4 - 4 * rank != math.prod(shape):
        raise UidsError(
            f"{path} is not an idx file of bytes: {len(raw):,} of them are none of shape {shape}"
        )
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(shape)
