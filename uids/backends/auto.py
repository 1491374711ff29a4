"""The backend that pays."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import scipy.sparse as sp

from uids.backends.numpy import Numpy

# Stored entries from which numba's loops win back the second that it takes to load them.
SPARSE = 2_000_000
DENSE = 20_000_000


@dataclass(frozen=True)
class Auto:
    """``numba`` where X is large and numba is there, else ``numpy``."""

    def choose(self, X: Any) -> Any:
        large = X.nnz >= SPARSE if sp.issparse(X) else X.size >= DENSE
        if not large or find_spec("numba") is None:
            return Numpy()
        from uids.backends.numba import Numba

        return Numba()

    def matrix(self, X: Any) -> Any:
        return self.choose(X).matrix(X)
