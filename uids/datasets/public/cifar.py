"""CIFAR-10, cat against dog: from the site's own archive, or from an npz of these two classes."""

from __future__ import annotations

import pickletools
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from uids.datasets.data import Data, Pair, Parts, as_data
from uids.datasets.formats.npz import reason
from uids.datasets.parsed import fingerprint, parsed
from uids.datasets.public.download import File, find, locate
from uids.datasets.public.pixels import two_classes
from uids.datasets.public.public_set import PublicSet
from uids.errors import UidsError, one_line
from uids.system.archive import UNREADABLE

NPZ = File("cifar10_cat_dog.npz")
ARCHIVE = File(
    "cifar-10-python.tar.gz",
    "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
)
PIXELS = 3 * 32 * 32  # bytes of one image
CAT, DOG = 3, 5  # the labels of the two classes
STRINGS = ("STRING", "UNICODE", "BYTES")  # how the names of pickle's opcodes for strings end
INTEGERS = ("BININT", "BININT1", "BININT2", "INT")  # pickle's opcodes for integers
# Part ↦ the files of the archive that hold its rows.
BATCHES = {"train": [f"data_batch_{k}" for k in range(1, 6)], "test": ["test_batch"]}


@dataclass(frozen=True)
class Cifar10CatDog(PublicSet):
    """CIFAR-10, cat (positive) against dog; row, column, colour; pixels / 255.

    Read from ``cifar10_cat_dog.npz`` if it is there (``X_train``, ``y_train``, ``X_test`` and
    ``y_test`` of these two classes, bytes), else from the site's archive. The archive is made of
    pickles, which can run code when they are loaded: they are never loaded, see ``batch``.
    """

    files = {"train": ARCHIVE}
    shape = (12_000, 3_072)
    megabytes = 170.5
    paper_rows = 10_000

    @classmethod
    def here(cls) -> bool:
        return bool(find(NPZ) or find(ARCHIVE))

    def fingerprint(self) -> Any:
        path = find(NPZ) or find(ARCHIVE)
        return fingerprint([path] if path else [])

    def load(self) -> Data:
        path = find(NPZ) or locate(ARCHIVE)
        parse = from_npz if path.suffix == ".npz" else from_archive
        return as_data(parsed([path], "cifar10_cat_dog", lambda: parse(path)), self.paper_rows)


def from_npz(path: Path) -> Parts:
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            return {
                part: (archive[f"X_{part}"] / 255.0, archive[f"y_{part}"].astype(int))
                for part in ("train", "test")
            }
    except (*UNREADABLE, AttributeError) as error:
        raise UidsError(f"{path} is not an npz of CIFAR-10: {reason(error)}") from error


def from_archive(path: Path) -> Parts:
    """The rows of the two classes in the order of the batches. Nothing is unpacked to disk."""
    batches: dict[str, Pair] = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member)
                name = member.name.rpartition("/")[2]
                if file is not None and name in (*BATCHES["train"], *BATCHES["test"]):
                    batches[name] = two_classes(*batch(file.read(), f"{path}: {name}"), CAT, DOG)
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise UidsError(f"{path} is not CIFAR-10's archive: {one_line(error)}") from error
    parts: Parts = {}
    for part, names in BATCHES.items():
        for name in names:
            if name not in batches:
                raise UidsError(f"{path} is not CIFAR-10's archive: it holds no {name}")
        X, y = zip(*(batches[name] for name in names), strict=True)
        parts[part] = np.concatenate(X), np.concatenate(y)
    return parts


def batch(raw: bytes, where: str) -> tuple[Any, Any]:
    """(images (n, 32, 32, 3), labels (n,)) of one batch, {"data": (n, 3072) bytes, "labels": list}.

    The pickle is disassembled, not executed: the pixels are its longest string, the labels are the
    integers between the word "labels" and the next string.
    """
    text: Any = ""
    labels: list[Any] = []
    in_labels = is_fortran = flag = False
    try:
        for opcode, argument, _ in pickletools.genops(raw):
            if opcode.name in ("NEWTRUE", "NEWFALSE"):
                flag = opcode.name == "NEWTRUE"
            elif isinstance(argument, str | bytes) and opcode.name.endswith(STRINGS):
                if argument != "latin1":  # Python 3 writes it behind its bytes in protocol 2
                    in_labels = argument in ("labels", b"labels")
                if len(argument) > len(text):
                    # numpy says just before the bytes whether they are in Fortran's order.
                    text, is_fortran = argument, flag
            elif in_labels and opcode.name in INTEGERS:
                labels.append(argument)
        # Strings of Python 2, and these bytes of Python 3, are shown as text in Latin-1.
        pixels = text.encode("latin-1") if isinstance(text, str) else text
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise UidsError(f"{where} is not a batch of CIFAR-10: {error}") from error
    if not labels or len(pixels) != PIXELS * len(labels) or not set(labels) <= set(range(10)):
        raise UidsError(
            f"{where} is not a batch of CIFAR-10: it has {len(labels)} labels and "
            f"{len(pixels)} bytes of pixels, {PIXELS} of which make an image"
        )
    rows: Any = np.frombuffer(pixels, np.uint8)
    if is_fortran:
        rows = rows.reshape(PIXELS, -1).T
    return rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), np.array(labels)
