"""What it costs to look at what plugins hand over: seconds inside the guards during one whole run,
against one product X V of the same process.

After a product nothing of Python is left in the cache, and any call at all takes some 10 to 50 µs.
So the same run is timed again with functions in place of the guards that only hand the values on,
and what those take is not counted. Each run makes the same calls in the same order: of each call
the least of several runs counts, so that what a neighbour takes does not. BLAS has one thread: the
seconds are those of one thread too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import uids
from uids.models.logreg import LogisticRegression
from uids.samplers.sigmoid import Sigmoid
from uids.solvers.cg import CG


@dataclass(frozen=True)
class Backend:
    """Two products by numpy or scipy: a plugin, since nobody has registered it."""

    def matrix(self, X: Any) -> Any:
        return Products(X)


class Products:
    def __init__(self, X: Any) -> None:
        self.X, self.shape = X, X.shape

    def dot(self, V: Any) -> Any:
        return self.X @ V

    def tdot(self, U: Any) -> Any:
        return self.X.T @ U


@dataclass(frozen=True)
class Solver(CG):
    """As another package's: its residual is computed again."""


@dataclass(frozen=True)
class Model(LogisticRegression):
    """As another package's: its arrays are looked at."""


@dataclass(frozen=True)
class Sampler(Sigmoid):
    """As another package's."""


def first(value: Any, *_: Any, **__: Any) -> Any:
    return value


def second(_: Any, value: Any, *__: Any) -> Any:
    return value


# Where the guards are called, what they do there, and what would only hand the values on.
GUARDS: dict[str, tuple[str, Any]] = {
    "uids.backends.guard.try_products": ("tried once", first),
    "uids.backends.adopted.Looks.at": ("looked at", second),
    "uids.models.adopted.handed": ("looked at", first),
    "uids.models.adopted.refuse_improbable": ("looked at", first),
    "uids.solvers.adopted.handed": ("looked at", first),
    "uids.samplers.adopted.handed": ("looked at", first),
    "uids.solvers.adopted.checked": ("residual", first),
}
RUNS = 5
TRAINED = 0.5  # share of the rows that are training rows, by the default split
KINDS = ("tried once", "looked at", "residual")


def spent(X: Any, y: Any, guarded: bool) -> dict[str, list[float]]:
    """Seconds of each call of each kind of guard, or of what is in its place, in their order; those
    of guards within guards are not counted twice."""
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    depth = 0

    def timed(function: Any, kind: str) -> Any:
        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal depth
            depth += 1
            start = time.thread_time()
            try:
                return function(*arguments, **keywords)
            finally:
                depth -= 1
                if depth == 0:
                    seconds[kind].append(time.thread_time() - start)

        return call

    with ExitStack() as stack:
        for place, (kind, instead) in GUARDS.items():
            module, _, name = place.rpartition(".")
            guard = getattr(resolve_name(module), name)
            stack.enter_context(patch(place, timed(guard if guarded else instead, kind)))
        parts = {"backend": Backend(), "solver": Solver(), "model": Model(C=1.0)}
        uids.run((X, y), sampler=Sampler(), repeats=1, cache=False, **parts)
    return seconds


def one_product(X: Any, seconds: float) -> float:
    v, took = np.random.default_rng(0).standard_normal(X.shape[1]), []
    began = time.perf_counter()
    while len(took) < 5 or time.perf_counter() - began < seconds:
        start = time.thread_time()
        X @ v
        took.append(time.thread_time() - start)
    return float(np.median(took))


@threadpool_limits.wrap(limits=1)
def measured(X: Any, y: Any, quick: bool) -> dict[str, float]:
    least = {}
    for guarded in (True, False):
        runs = [spent(X, y, guarded) for _ in range(RUNS)]
        least[guarded] = {
            kind: float(np.min([run[kind] for run in runs], axis=0).sum()) for kind in KINDS
        }
    product = one_product(X, 0.2 if quick else 2)
    more = {kind: (least[True][kind] - least[False][kind]) / product for kind in KINDS}
    more["residual"] -= TRAINED  # X s, which φ needs and takes from it
    return {"product": product, **more}


def measure(quick: bool) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(0)
    size = 10 if quick else 1
    dense = rng.standard_normal((100_000 // size, 200))
    sparse = sp.random(200_000 // size, 20_000, 40 / 20_000, "csr", rng=rng)
    for name, X in (("dense", dense), ("sparse, 40 a row", sparse)):
        y = (X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(X.shape[0]) > 0).astype(int)
        shape = f"{name}, {X.shape[0]:,} × {X.shape[1]:,}"
        yield {"shape": shape, **measured(X, y, quick)}
