"""The objective along a direction: losses and probabilities from scores, in pieces that stay in the
cache, on the threads of the backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uids.backends import Array
from uids.system.threads import on_threads
from uids.system.tuning import NEWTON

if TYPE_CHECKING:
    from uids.models.logistic.scored import Piece


def losses(
    Z: Array,
    U: Array | None,
    t: float,
    y: Array,
    weights: Array | None,
    P: Array,
    threads: int = 1,
    chunk: int = NEWTON.chunk,
    of_piece: Piece | None = None,
) -> tuple[float, float]:
    """Σ ω_i l_i at the scores Z + t U and its derivative in t; the states go to P. ``of_piece``
    does that for some rows, by default for logistic regression, whose states are probabilities.

    All are (n, k), with k = 1 in the binary case. Without U the derivative is 0.
    """
    measure = of_piece or piece_losses
    n, k = Z.shape
    height = max(1, chunk // k)
    starts = range(0, n, height)
    sums = np.zeros((len(starts), 2))

    def some(first: int) -> None:
        with np.errstate(all="ignore"):  # which each thread has of its own
            for piece in range(first, len(starts), threads):
                part = slice(starts[piece], starts[piece] + height)
                u = None if U is None else U[part]
                weight = None if weights is None else weights[part]
                sums[piece] = measure(Z[part], u, t, y[part], weight, P[part])

    on_threads(some, threads)
    loss, slope = sums.sum(axis=0)
    return float(loss), float(slope)


def piece_losses(
    z: Array, u: Array | None, t: float, y: Array, weight: Array | None, p: Array
) -> tuple[float, float]:
    """Of logistic regression."""
    if u is not None:
        z = z + t * u
    if z.shape[1] == 1:
        z = z[:, 0]
        small = np.exp(-np.abs(z))  # in [0, 1]: nothing overflows
        losses = np.log1p(small)
        losses += np.maximum(np.where(y == 1, -z, z), 0)
        p[:, 0] = np.where(z >= 0, 1.0, small) / (1 + small)
    else:
        z = z - z.max(axis=1, keepdims=True)
        np.exp(z, out=p)
        sums = p.sum(axis=1)
        losses = np.log(sums) - z[np.arange(len(z)), y]
        p /= sums[:, None]
    loss = float(losses.sum() if weight is None else weight @ losses)
    if u is None:
        return loss, 0.0
    rates = np.einsum("ik,ik->i", p, u)
    rates -= u[:, 0] * y if p.shape[1] == 1 else u[np.arange(len(u)), y]
    return loss, float(rates.sum() if weight is None else weight @ rates)
