"""torch: dense matrices and CSR, on any device that torch knows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from uids.backends.backend import Backend
from uids.backends.handed import writable
from uids.backends.host import Host, HostMatrix
from uids.backends.matrix import Array, Matrix
from uids.errors import UidsError, require

DTYPES = {"float64": torch.float64, "float32": torch.float32}


@dataclass(frozen=True)
class Torch(Backend):
    """``device`` as torch writes it ("cpu", "cuda:1", "mps"); ``dtype`` of storage and arithmetic.

    float32 halves memory and gives about 6 digits.
    """

    device: str = "cpu"
    dtype: str = "float64"

    def __post_init__(self) -> None:
        require(self.dtype in DTYPES, "dtype", "'float64' or 'float32'", self.dtype)

    def matrix(self, X: Any) -> TorchMatrix:
        return TorchMatrix(X, self.device, DTYPES[self.dtype])


class TorchMatrix(HostMatrix):
    """X on the device. ``mm`` and ``tmm`` are the products of tensors, ``dot`` and ``tdot`` the
    same for numpy arrays."""

    def __init__(self, X: Any, device: str, dtype: torch.dtype) -> None:
        super().__init__(Host(X), "torch")
        self.dtype, self.device = dtype, device

    @cached_property
    def tensor(self) -> torch.Tensor:
        X = self.host.X
        if self.sparse and not X.has_canonical_format:  # torch takes no other
            X = X.copy()
            X.sum_duplicates()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
            # X is never written to; a memory-mapped one cannot be.
            warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
            try:
                if not self.sparse:
                    return torch.as_tensor(X, dtype=self.dtype, device=self.device)
                tensor = torch.sparse_csr_tensor(
                    crow_indices=torch.from_numpy(X.indptr.astype(X.indices.dtype, copy=False)),
                    col_indices=torch.from_numpy(X.indices),
                    values=torch.from_numpy(X.data),
                    size=X.shape,
                    check_invariants=True,
                )
                return tensor.to(device=self.device, dtype=self.dtype)
            except (RuntimeError, AssertionError) as error:
                reason = str(error).splitlines()[0]
                raise UidsError(f"torch cannot use the device {self.device!r}: {reason}") from error

    def prepare(self, trial: bool = True) -> None:
        self.tensor  # noqa: B018

    def mm(self, V: torch.Tensor) -> torch.Tensor:
        return self.tensor @ V

    def tmm(self, U: torch.Tensor) -> torch.Tensor:
        return self.tensor.t() @ U

    def to(self, array: Array) -> torch.Tensor:
        array = writable(np.ascontiguousarray(array))  # torch warns of what is not
        return torch.as_tensor(array, dtype=self.dtype, device=self.device)

    def dot(self, V: Array) -> Array:
        return self.mm(self.to(V)).cpu().numpy().astype(np.float64, copy=False)

    def tdot(self, U: Array) -> Array:
        return self.tmm(self.to(U)).cpu().numpy().astype(np.float64, copy=False)

    def like(self, X: Any) -> Matrix:
        return TorchMatrix(X, self.device, self.dtype)
