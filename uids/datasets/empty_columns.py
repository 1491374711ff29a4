"""Columns that hold nothing, left out where there are far more of them than entries.

A model has a number for each column, and a solve several vectors of that length: one large index in
a small file would else cost gigabytes, whatever the file's size. A column that no row has changes
no loss, so that its coefficient is 0, and no number of a run depends on it.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from uids.datasets.csr import csr_of
from uids.datasets.data import Data, Parts
from uids.errors import UidsWarning

FEW = 2**22  # columns whose vectors, of 32 MiB, cost nothing that matters
SPARE = 4  # columns for each entry of all rows, beyond which most hold nothing


def without_empty_columns(data: Data, name: str) -> Data:
    """The data as they are, unless they have columns beyond all proportion."""
    width = data.X.shape[1]
    matrices = {part: X for part, X in data.sources.items() if sp.issparse(X)}
    entries = sum(X.nnz for X in matrices.values())
    if width <= FEW or width <= SPARE * entries or len(matrices) < len(data.sources):
        return data
    used = np.unique(np.concatenate([np.unique(X.indices) for X in matrices.values()]))
    used = used if len(used) else np.zeros(1, dtype=np.int64)
    warnings.warn(
        f"dataset {name!r}: {width - len(used):,} of {width:,} columns hold nothing in any row, "
        "and are left out; the others keep their order",
        UidsWarning,
        stacklevel=2,
    )
    narrow = {part: _renumbered(X, used) for part, X in matrices.items()}
    pairs: Parts = {part: (narrow[part], y) for part, (_, y) in data.separate.items()}
    features = None if data.features is None else [data.features[j] for j in used]
    narrowed = replace(data, X=narrow["train"], features=features, used=used)
    return replace(narrowed, validation=pairs.get("validation"), test=pairs.get("test"))


def _renumbered(X: sp.csr_matrix, used: npt.NDArray[np.int64]) -> sp.csr_matrix:
    places = np.searchsorted(used, X.indices)
    arrays = {"data": X.data, "indices": places, "indptr": X.indptr}
    return csr_of({**arrays, "shape": (X.shape[0], len(used))}, "X")
