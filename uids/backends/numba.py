"""numba: compiled loops over the rows, on several threads, for CSR and dense matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import scipy.sparse as sp

from uids.backends.backend import Backend
from uids.backends.loops.dense import DenseMatrix
from uids.backends.loops.sparse import SparseMatrix
from uids.backends.matrix import Matrix
from uids.errors import require
from uids.system.tuning import LOOPS, Loops

PRECISIONS = ("float64", "float32")
CONFIG: Any = numba.config


@dataclass(frozen=True)
class Numba(Backend):
    """``precision`` in which the values of X are stored: float32 halves what a product reads, and
    costs a copy of a float64 X. Sums are float64 in either. Values that are all 1 are never read.
    ``threads`` is the number of cores, or NUMBA_NUM_THREADS, unless it is given.
    """

    precision: str = "float64"
    threads: int | None = None

    def __post_init__(self) -> None:
        require(self.precision in PRECISIONS, "precision", "'float64' or 'float32'", self.precision)
        require(self.threads is None or self.threads >= 1, "threads", "1 or more", self.threads)

    def matrix(self, X: Any, tuning: Loops = LOOPS) -> Matrix:
        threads = self.threads or int(CONFIG.NUMBA_NUM_THREADS)
        kind = SparseMatrix if sp.issparse(X) else DenseMatrix
        return kind(X, threads, self.precision == "float32", tuning)
