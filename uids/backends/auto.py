"""The backend that pays."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import scipy.sparse as sp

from uids.backends.backend import Backend
from uids.backends.matrix import Matrix
from uids.backends.numpy import Numpy
from uids.system.tuning import BACKEND_CHOICE, BackendChoice


@dataclass(frozen=True)
class Auto(Backend):
    """``numba`` where X is large and numba is there, else ``numpy``."""

    def matrix(self, X: Any) -> Matrix:
        return choose(X)[0].matrix(X)

    def settled(self, X: object) -> Backend:
        """Loops that are loaded pay for a few validation rows, too."""
        return choose(X)[0]

    def plan(self, X: Any) -> str:
        return choose(X)[1]


def choose(X: Any, tuning: BackendChoice = BACKEND_CHOICE) -> tuple[Backend, str]:
    """The backend, and why."""
    sparse = bool(sp.issparse(X))
    entries = int(X.nnz if sparse else X.size)
    least = tuning.sparse_entries if sparse else tuning.dense_entries
    stored = f"{entries:,} {'stored' if sparse else 'dense'} entries"
    if entries < least:
        return Numpy(), f"numpy: {stored}, fewer than the {least:,} from which numba is quicker"
    if find_spec("numba") is None:
        return Numpy(), f"numpy: numba would be quicker for {stored}, and is not installed"
    from uids.backends.numba import Numba

    return Numba(), f"numba: {stored}, at least the {least:,} from which it is quicker"
