"""What a model is to the rest of uids.

A model component has ``fit(rows, weights=None, start=None)`` and hands back a fitted model:
parameters θ̂ as one flat vector, probabilities and losses of any rows, and its *curvature*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from uids.backends import Array, Matrix


@dataclass(frozen=True)
class Rows:
    """Rows as a model sees them: X through a backend, y in 0..K−1, K."""

    X: Matrix
    y: npt.NDArray[np.int64]
    classes: int

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: Array) -> Rows:
        return Rows(self.X.rows(index), self.y[index], self.classes)


class Curvature(Protocol):
    """The training objective near θ̂, in mean form: H = (1/n) (Σ_i ω_i ∇²l_i + ∇²penalty).

    A solver sees only the first seven, see ``uids.solvers.Operator``. Vectors are flat, of length
    ``size``; products also take (size, m) for m vectors at once.
    """

    size: int
    rows: int
    scale: float

    def dot(self, V: Array) -> Array: ...  # H V
    def diagonal(self) -> Array: ...  # diag(H)
    def dense(self) -> Array: ...  # H itself; size² numbers
    def dot_rows(self, V: Array, index: Array) -> Array: ...  # H V estimated from some rows
    def gradient(self, rows: Rows) -> Array: ...  # Σ_j ∇l_j(θ̂), no penalty
    def gradient_norms(self, rows: Rows) -> Array: ...  # ‖∇l_i(θ̂)‖ for each row i
    def row_gradients(self, rows: Rows) -> Array: ...  # ∇l_j(θ̂) as columns, (size, rows)
    def row_products(self, rows: Rows, S: Array) -> Array: ...  # ∇l_i(θ̂)ᵀ S for each row i
    def penalty_product(self, s: Array) -> float: ...  # ∇penalty(θ̂)ᵀ s, = Σ_i φ_i at an optimum


class Fitted(Protocol):
    """A model with its parameters."""

    theta: Array

    def probabilities(self, rows: Rows) -> Array: ...  # (n, K)
    def losses(self, rows: Rows) -> Array: ...  # (n,)
    def curvature(self, rows: Rows, weights: Array | None = None) -> Curvature: ...


class Model(Protocol):
    """A model that can also be rebuilt from its parameters, ``restore(theta, rows)``, takes part in
    the cache of fits."""

    def fit(self, rows: Rows, weights: Array | None = None, start: Any | None = None) -> Fitted: ...
