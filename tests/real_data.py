"""The real data sets that the numbers of reference were obtained on, where they are."""

from __future__ import annotations

import gzip
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

NAMES = ("breast-cancer_scale", "diabetes_scale", "a1a", "mnist_1_7")


def folder() -> Path:
    found = os.environ.get("UIDS_DATA", "")
    if not found or not Path(found).is_dir():
        pytest.skip("UIDS_DATA names no folder of data sets")
    return Path(found)


def file(name: str) -> Path:
    path = folder() / name
    if not path.exists():
        pytest.skip(f"there is no {name} in UIDS_DATA")
    return path


def idx(name: str) -> np.ndarray:
    raw = gzip.decompress(file(name).read_bytes())
    shape = np.frombuffer(raw, ">i4", count=raw[3], offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


@cache
def paper_split(name: str):
    """(X, y) of training, validation and test rows as the paper's experiments had them; CSR."""
    if name == "mnist_1_7":
        parts = []
        for kind, skip in (("train", 5000), ("t10k", 0)):
            X, y = (idx(f"{kind}-{what}-ubyte.gz") for what in ("images-idx3", "labels-idx1"))
            X, y = X[skip:], y[skip:]
            chosen = (y == 1) | (y == 7)
            parts.append((sp.csr_matrix(X[chosen].reshape(chosen.sum(), -1) / 255.0), y[chosen]))
        (X, y), test = parts
    elif name == "a1a":
        X, y = load_svmlight_file(str(file("a1a.t")), n_features=123)
        test = load_svmlight_file(str(file("a1a")), n_features=123)
    else:
        X, y = load_svmlight_file(str(file(name)))
        X, test, y = X[:500], (X[500:], y[500:]), y[:500]
    y, y_test = (y == y.max()).astype(int), (test[1] == y.max()).astype(int)
    cut = int(0.7 * len(y))
    return (X[:cut], y[:cut]), (X[cut:], y[cut:]), (test[0], y_test)
