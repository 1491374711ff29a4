"""numpy archives."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from uids.datasets.data import Data, Pair, as_data
from uids.datasets.formats.own_files import OwnFiles
from uids.errors import UidsError, one_line


@dataclass(frozen=True)
class Npz(OwnFiles):
    """A person's own archives, taken as they are: each has ``y`` and either ``X`` (dense) or the
    arrays of scipy's ``save_npz`` for CSR (``data``, ``indices``, ``indptr``, ``shape``)."""

    def load(self) -> Data:
        parts = {part: read(path, f"dataset.{part}") for part, path in self.paths().items()}
        widest = max(X.shape[1] for X, _ in parts.values())
        return as_data({part: (widened(X, widest), y) for part, (X, y) in parts.items()})


def read(path: Path, where: str) -> Pair:
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files if name != "format"}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise UidsError(f"{where}: cannot read {str(path)!r}: {one_line(error)}") from error
    if "y" in arrays and "X" in arrays:
        return arrays["X"], arrays["y"]
    if {"y", "data", "indices", "indptr", "shape"} <= set(arrays):
        triple = (arrays["data"], arrays["indices"], arrays["indptr"])
        return sp.csr_matrix(triple, shape=tuple(arrays["shape"])), arrays["y"]
    raise UidsError(
        f"{where}: {str(path)!r} must hold y and X, or y, data, indices, indptr and shape; "
        f"it holds {', '.join(sorted(arrays))}"
    )


def widened(X: Any, width: int) -> Any:
    """A sparse X with as many columns as the widest part: the columns that are missing are 0."""
    if sp.issparse(X) and X.shape[1] < width:
        return sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    return X
