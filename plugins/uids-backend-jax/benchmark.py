"""Seconds of one Hessian product, Xᵀ(w ∘ (X v)), on jax and on numba, in one run and by turns.

python plugins/uids-backend-jax/benchmark.py [--quick]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from uids.backends import adopt

REPEATS = 7  # of which the quickest counts: other work on the machine only slows down


def problems(scale: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    n = 200_000 // scale
    columns = np.sort((rng.zipf(1.3, size=(n, 39)) * 7919) % 100_000, axis=1)  # as in a click log
    starts = np.arange(0, n * 39 + 1, 39)
    log = sp.csr_matrix((rng.random(n * 39), columns.ravel(), starts), shape=(n, 100_000))
    return {
        f"dense, {n // 10} × 500": rng.normal(size=(n // 10, 500)),
        f"sparse, {n} × 100000, 39 a row": log,
    }


def main() -> None:
    print("| X | numba | jax | jax / numba | first product of jax |")
    print("|---|---|---|---|---|")
    for name, X in problems(20 if "--quick" in sys.argv else 1).items():
        rng = np.random.default_rng(1)
        w, v = rng.random(X.shape[0]), rng.normal(size=X.shape[1])
        seconds: dict[str, list[float]] = {"numba": [], "jax": []}
        matrices = {backend: adopt(backend, X) for backend in seconds}
        for _ in range(REPEATS + 1):
            for backend, matrix in matrices.items():
                began = time.perf_counter()
                matrix.gram_dot(w, v)
                seconds[backend].append(time.perf_counter() - began)
        numba, jax = (min(times[1:]) for times in seconds.values())
        first = seconds["jax"][0]
        print(f"| {name} | {numba:.4f} s | {jax:.4f} s | {jax / numba:.1f} | {first:.2f} s |")


if __name__ == "__main__":
    main()
