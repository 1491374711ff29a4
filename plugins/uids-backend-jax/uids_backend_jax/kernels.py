"""The compiled loops. X is a stack of blocks, and each product one pass over them.

| argument | dense                        | sparse                                    |
|----------|------------------------------|-------------------------------------------|
| X        | (blocks, height, d)          | ``Entries`` of shape (blocks, length)     |
| V        | (d,) or (d, k)               | the same                                  |
| U, W     | (blocks, height), (…, k)     | (n,) or (n, k)                            |
| w        | (blocks, height)             | (n,)                                      |

So nothing beside X is larger than a block, and X may be stored in float32: a block becomes float64
when its turn comes. ``u.T @ X`` rather than ``X.T @ u``: on a CPU XLA would transpose X first.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

jit = jax.jit


class Entries(NamedTuple):
    """The stored entries of a sparse matrix: X[rows, cols] = values. Those that fill up the last
    block have the value 0."""

    values: Array
    rows: Array
    cols: Array


def scaled(w: Array, Z: Array) -> Array:
    """diag(w) Z, for one column or several."""
    return (w * Z.T).T


def real(block: Array) -> Array:
    return block.astype(jnp.float64)


def total(add: Any, shape: tuple[int, ...], blocks: Any) -> Array:
    """The sum over the blocks, to which ``add(sum, block)`` adds one."""
    start = jnp.zeros(shape, jnp.float64)
    return lax.scan(lambda carry, block: (add(carry, block), None), start, blocks)[0]


@jit
def dense_dot(X: Array, V: Array) -> Array:
    return lax.map(lambda block: real(block) @ V, X)


@jit
def dense_tdot(X: Array, U: Array) -> Array:
    shape = (*U.shape[2:], X.shape[2])
    return total(lambda sum, part: sum + part[1].T @ real(part[0]), shape, (X, U)).T


@jit
def dense_gram_dot(X: Array, w: Array, V: Array) -> Array:
    def add(sum: Array, part: tuple[Array, Array]) -> Array:
        block = real(part[0])
        return sum + scaled(part[1], block @ V).T @ block

    return total(add, (*V.shape[1:], X.shape[2]), (X, w)).T


@jit
def dense_scored_dot(X: Array, w: Array, v: Array) -> tuple[Array, Array]:
    def step(sum: Array, part: tuple[Array, Array]) -> tuple[Array, Array]:
        block = real(part[0])
        scores = block @ v
        return sum + (part[1] * scores) @ block, scores

    return lax.scan(step, jnp.zeros(X.shape[2], jnp.float64), (X, w))


@jit
def dense_outer_dot(X: Array, U: Array) -> Array:
    return dense_dot(X, dense_tdot(X, U))


@jit
def dense_square_tdot(X: Array, W: Array) -> Array:
    shape = (*W.shape[2:], X.shape[2])
    return total(lambda sum, part: sum + part[1].T @ real(part[0]) ** 2, shape, (X, W)).T


@jit
def dense_gram(X: Array, w: Array) -> Array:
    def add(sum: Array, part: tuple[Array, Array]) -> Array:
        block = real(part[0])
        return sum + scaled(part[1], block).T @ block

    return total(add, (X.shape[2], X.shape[2]), (X, w))


def gathered(entries: Entries, V: Array, rows: int) -> Array:
    """X V."""

    def add(sum: Array, part: Entries) -> Array:
        return sum.at[part.rows].add(scaled(real(part.values), V[part.cols]))

    return total(add, (rows, *V.shape[1:]), entries)


def scattered(entries: Entries, U: Array, columns: int, power: int = 1) -> Array:
    """Xᵀ U, or (X ∘ X)ᵀ U."""

    def add(sum: Array, part: Entries) -> Array:
        return sum.at[part.cols].add(scaled(real(part.values) ** power, U[part.rows]))

    return total(add, (columns, *U.shape[1:]), entries)


@partial(jit, static_argnames="rows")
def sparse_dot(X: Entries, V: Array, rows: int) -> Array:
    return gathered(X, V, rows)


@partial(jit, static_argnames=("columns", "power"))
def sparse_tdot(X: Entries, U: Array, columns: int, power: int = 1) -> Array:
    return scattered(X, U, columns, power)


@jit
def sparse_gram_dot(X: Entries, w: Array, V: Array) -> Array:
    return scattered(X, scaled(w, gathered(X, V, len(w))), len(V))


@jit
def sparse_scored_dot(X: Entries, w: Array, v: Array) -> tuple[Array, Array]:
    scores = gathered(X, v, len(w))
    return scattered(X, w * scores, len(v)), scores


@partial(jit, static_argnames="columns")
def sparse_outer_dot(X: Entries, U: Array, columns: int) -> Array:
    return gathered(X, scattered(X, U, columns), len(U))
