"""X that lies elsewhere: on other machines, or wherever a data set and a backend agree on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt


class Elsewhere(ABC):
    """What a data set may hand back as X in place of an array, for a backend that takes it
    (``Backend.takes``); every other refuses it in one line. Only its labels come to this process.

    It is (n, d), of float32 or float64; ``infinite`` is the first row that holds a value which is
    not finite, where there is one.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    sparse: bool
    infinite: int | None = None
    backend: str  # the name of the one that takes it
    where: str  # as in "the rows lie on 2 workers of Dask"

    @abstractmethod
    def fetch(self, index: npt.NDArray[np.int64]) -> Any:
        """A few rows in this process, by their positions: a numpy array or a CSR matrix."""
