"""What the products of another package's backend are held to: looked at, and tried on a few rows
before they are relied on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from uids.backends.handed import all_finite, handed, some, writable
from uids.backends.matrix import Array, Matrix
from uids.errors import Blame, ComponentError

# Rows on which the products are tried: a share of them, so that all is less work than one product
# with X, but no fewer and no more than this.
TRIED_SHARE, TRIED_LEAST, TRIED_MOST = 1 / 32, 24, 128

# Features up to which products with several vectors are tried too, and those up to which the Gram
# matrix is.
TRIED_WIDTH, TRIED_GRAM = 2**16, 256

# Largest error of a product, relative to the same sum of absolute values: what is stored in float32
# comes within it, and no mistake does.
WRONG = 1e-5

ARRAY, FLOAT64 = np.ndarray, np.dtype(np.float64)

# Length of the random numbers that vectors are filled with again and again; prime, so that they do
# not fall in step with blocks.
PERIOD = 4099


Brings = Callable[[str], bool]  # the name of a product ↦ whether the backend has its own
# What it is called, the product, what it is given, and what is right.
Trial = tuple[str, Callable[..., Any], tuple[Array, ...], tuple[Array, ...]]


class Guard:
    """Of one backend in one run."""

    def __init__(self, blame: Blame) -> None:
        self.blame = blame
        self.tried = False
        self.seen: set[str] = set()  # products that were looked at in full
        self.plain: set[str] = set()  # those of them that came as arrays which may be changed

    def check_shape(self, shape: object, expected: tuple[int, int]) -> None:
        if not np.array_equal(np.asarray(shape), expected):
            raise ComponentError(
                f"{self.blame.who} gave a matrix of shape {shape} for X of shape {expected}"
            )

    def try_once(self, matrix: Matrix, brings: Brings = bool) -> None:
        """The first matrix of a run, on a few of its rows; see ``try_products``."""
        if not self.tried:
            self.tried = True
            try_products(matrix, self.blame, brings)


class Looks:
    """At what one matrix hands over. Shape and type are seen at every product, numbers at the first
    of its kind alone: all of them at the first of the run, some at the first of each other matrix.
    A pass over n numbers is a part of a product, and a run goes through hundreds of subsets."""

    # After a product nothing of this is in the cache: slots, and a tuple in place of a set, are
    # fewer places to read.
    __slots__ = ("blame", "guard", "plain", "seen")

    def __init__(self, guard: Guard) -> None:
        self.guard, self.blame = guard, guard.blame
        self.seen: set[str] = set()
        self.plain: tuple[str, ...] = ()  # those that came as arrays which may be changed

    def at(self, value: object, given: Array, shape: tuple[int, ...], what: str) -> Array:
        """The product ``what`` of what was ``given``, as it was handed over; what comes of numbers
        that are not finite need not be so either."""
        known = what in self.plain
        if type(value) is ARRAY and value.dtype is FLOAT64 and value.shape == shape:
            if known:
                return value  # nearly all of the hundreds in a run: no more work than this
            if what in self.guard.plain and value.flags.writeable and all_finite(some(value)):
                self.plain += (what,)
                return value
        with self.blame:
            single = np.asarray(value).dtype == np.float32
        if single:
            raise ComponentError(
                f"{self.blame.who} gave {what} in float32 where float64 is needed: fits and solves "
                "are exact to more digits than it has"
            )
        array = handed(value, shape, what, self.blame, finite=False)
        if what not in self.seen:
            self.seen.add(what)
            if array is value and array.flags.writeable:
                self.plain += (what,)
                self.guard.plain.add(what)
            first = what not in self.guard.seen
            self.guard.seen.add(what)
            if not all_finite(array if first else some(array)) and all_finite(given):
                handed(array, shape, what, self.blame)  # says where
        return writable(array)


def try_products(matrix: Matrix, blame: Blame, brings: Brings = bool) -> None:
    """Each product with a few rows against the same by numpy or scipy, on random vectors. A wrong
    Xᵀ is found so, which a fit would tell as its own failure to converge. ``brings`` tells by its
    name whether a product is the backend's own: the others are ours, made of its first two."""
    n, d = matrix.shape
    count = min(n, max(TRIED_LEAST, min(TRIED_MOST, int(n * TRIED_SHARE))))
    part = matrix.rows(np.arange(count, dtype=np.int64) * (n - 1) // max(1, count - 1))
    with blame:
        X = part.fetch()
    rng = np.random.default_rng(0)
    pool = rng.standard_normal(PERIOD)
    v, u = np.resize(pool, d), np.resize(pool[::-1], X.shape[0])
    w = np.abs(u)
    Xt = X.T  # of a sparse X an object of its own, made once
    z, t = X @ v, Xt @ u
    trials: list[Trial] = [("X V", part.dot, (v,), (z,)), ("Xᵀ U", part.tdot, (u,), (t,))]
    if brings("gram_dot") or brings("scored_dot"):
        gram_dot = Xt @ (w * z)
        trials += [
            ("Xᵀ (w ∘ X V)", part.gram_dot, (w, v), (gram_dot,)),
            ("Xᵀ (w ∘ X v) and X v", part.scored_dot, (w, v), (gram_dot, z)),
        ]
    if brings("outer_dot"):
        trials += [("X Xᵀ u", part.outer_dot, (u,), (X @ t,))]
    if d <= TRIED_WIDTH:
        V, U = np.stack([v, v[::-1]], axis=1), np.stack([u, w], axis=1)
        trials += [("X V", part.dot, (V,), (X @ V,)), ("Xᵀ U", part.tdot, (U,), (Xt @ U,))]
        if brings("gram_dot"):
            right = Xt @ (w[:, None] * (X @ V))
            trials += [("Xᵀ (w ∘ X V)", part.gram_dot, (w, V), (right,))]
        if brings("square_tdot"):
            squares = X.multiply(X) if part.sparse else X * X
            trials += [("(X ∘ X)ᵀ W", part.square_tdot, (w,), (squares.T @ w,))]
    if d <= TRIED_GRAM and brings("gram"):
        dense = X.toarray() if part.sparse else X
        trials += [("Xᵀ diag(w) X", part.gram, (w,), ((dense.T * w) @ dense,))]
    first = part.dot(v)
    as_handed = first.copy()
    for what, product, given, right in trials:
        before = [array.copy() for array in given]
        found = product(*given)
        if not all(np.array_equal(a, b) for a, b in zip(given, before, strict=True)):
            raise ComponentError(f"{blame.who} changes what it is given, in the product {what}")
        found = found if isinstance(found, tuple) else (found,)
        for is_, should_be in zip(found, right, strict=True):
            refuse_wrong(is_, should_be, what, blame)
    part.dot(-v)
    if not np.array_equal(first, as_handed):
        raise ComponentError(f"{blame.who} changes X V after it has handed it over")


def refuse_wrong(found: Array, right: Array, what: str, blame: Blame) -> None:
    right = np.asarray(right, dtype=np.float64)
    if found.shape != right.shape:
        raise ComponentError(
            f"{blame.who} gave {what} of shape {found.shape} where {right.shape} is needed"
        )
    error, size = largest(found - right), largest(right)
    if not error <= WRONG * max(size, float(np.finfo(np.float64).tiny)):
        raise ComponentError(
            f"{blame.who} gives a wrong {what}: tried on random vectors and a few rows, it is up "
            f"to {error:.1e} away from the product with X, of size {size:.1e}"
        )


def largest(array: Array) -> float:
    """In absolute value; NaN where there is one."""
    return float(max(array.max(initial=0.0), -array.min(initial=0.0)))
