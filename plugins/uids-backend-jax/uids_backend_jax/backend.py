"""The dataclass that uids builds: which device, and the matrix on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import scipy.sparse as sp

from uids_backend_jax.matrices import DenseMatrix, Matrix, SparseMatrix

DEVICE = re.compile(r"([a-z_]+)(?::(\d+))?")  # gpu, cuda:1


@dataclass(frozen=True)
class Jax:
    """``device`` as JAX names it: "cpu", "gpu", "tpu", or with a number, "gpu:1"; None is JAX's own
    choice, which is the first GPU or TPU where there is one.

    Every product is in float64, also where JAX is otherwise left at float32, which is its default.
    """

    device: str | None = None

    # The parts of a split and the subsets come from ``rows`` of the whole, which is moved once.
    views: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.device is not None and not DEVICE.fullmatch(self.device):
            raise ValueError(f"device must be such as 'cpu' or 'gpu:1' (got {self.device!r})")

    def matrix(self, X: Any) -> Matrix:
        kind = SparseMatrix if sp.issparse(X) else DenseMatrix
        return kind(X, self._device())

    def _device(self) -> jax.Device:
        if self.device is None:
            return next(iter(jnp.zeros(()).devices()))  # also where jax.default_device has set it
        platform, _, number = self.device.partition(":")
        try:
            return jax.devices(platform)[int(number or 0)]
        except (RuntimeError, IndexError) as error:
            there = ", ".join(f"{each.platform}:{each.id}" for each in jax.devices())
            raise ValueError(f"there is no device {self.device!r}; JAX has {there}") from error
