"""What a backend is, to whoever wants to make whole matrices of it rather than two products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from uids.backends.matrix import Matrix
from uids.datasets.elsewhere import Elsewhere


class Backend(ABC):
    @abstractmethod
    def matrix(self, X: Any) -> Matrix:
        """X, a numpy array or a CSR matrix, on this backend's hardware."""

    def takes(self, X: Elsewhere) -> bool:
        """Whether ``matrix`` takes rows that a data set has left where they lie."""
        return False

    def settled(self, X: object) -> Backend:
        """The backend of all other rows of a run whose training rows are in X."""
        return self

    def plan(self, X: Any) -> str:
        """Which matrix that would be and why, where there is a choice; nothing is made."""
        return ""
