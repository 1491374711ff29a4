"""Float64 for the products of this package alone."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jax import enable_x64 as _enable_x64
else:
    try:
        from jax import enable_x64 as _enable_x64
    except ImportError:  # JAX before 0.8
        from jax.experimental import enable_x64 as _enable_x64


def float64() -> AbstractContextManager[Any]:
    """Within it JAX computes in float64, in this thread. The flag of the process would change every
    other computation of whoever calls uids from their own program."""
    return _enable_x64(True)
