"""Some rows of X on a worker, and what is asked of them there: each function is one task.

``index`` are positions among the rows of the partition, or None for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from uids.plugin import Array, Matrix
from uids.system.memory import memory
from uids.system.tuning import LOOPS
from uids_dask.lent import Lent

VIEWS = (
    4  # views that a partition keeps at hand: training rows, and subsets that are fitted by turns
)
ONES = np.int8  # type of values that are all 1: a byte in place of eight, and no product reads them


class Partition:
    """Rows of X, dense or CSR, and the matrix of them, which is made anew wherever they go.

    ``share`` is how many partitions a worker has, among which its memory is divided.
    """

    def __init__(self, X: Any, share: int = 1) -> None:
        self.X, self.share = X, share
        self.views: list[tuple[Array, Matrix]] = []

    @cached_property
    def matrix(self) -> Matrix:
        if find_spec("numba") is None:
            from uids.backends.numpy import Numpy

            return Numpy().matrix(self.X)
        from uids.backends.numba import Numba

        # A second form of the entries has to fit beside them, within what the worker may have.
        divided = LOOPS.memory_share * self.share * max(1, memory() // worker_memory())
        return Numba(threads=1).matrix(self.X, replace(LOOPS, memory_share=divided))

    def rows(self, index: Array | None) -> Matrix:
        if index is None:
            return self.matrix
        for held, view in self.views:
            if held is index:
                return view
        view = self.matrix.rows(index)
        self.views = [(index, view), *self.views[: VIEWS - 1]]
        return view

    def take(self, index: Array | None, chosen: Array | None = None) -> Any:
        """The rows themselves, in floating point, or these columns of them."""
        X = self.X if index is None else self.X[index]
        X = X if chosen is None else X[:, chosen]
        return X.astype(np.float64) if X.dtype == ONES else X

    def __sizeof__(self) -> int:
        arrays = (self.X.data, self.X.indices, self.X.indptr) if sp.issparse(self.X) else (self.X,)
        return int(sum(array.nbytes for array in arrays))

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "share": self.share}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def worker_memory() -> int:
    """Bytes that this worker may have."""
    from distributed import get_worker

    try:
        limit = get_worker().memory_manager.memory_limit
    except (ValueError, AttributeError):
        limit = None  # not on a worker, or one without a limit
    return int(limit or memory())


def slimmed(X: Any) -> Any:
    """CSR without its values where they are all 1."""
    if not sp.issparse(X) or not (X.data == 1).all():
        return X
    return sp.csr_matrix((np.ones(X.nnz, ONES), X.indices, X.indptr), shape=X.shape)


def of_block(X: Any, share: int) -> Partition:
    """Of rows that came from the client."""
    return Partition(slimmed(X), share)


def dot(part: Partition, index: Array | None, V: Array) -> Array:
    return part.rows(index).dot(V)


def tdot(part: Partition, index: Array | None, U: Array) -> Array:
    return part.rows(index).tdot(U)


def square_tdot(part: Partition, index: Array | None, W: Array) -> Array:
    return part.rows(index).square_tdot(W)


def gram_dot(part: Partition, index: Array | None, V: Array, w: Array) -> Array:
    return part.rows(index).gram_dot(w, V)


def scored_dot(part: Partition, index: Array | None, v: Array, w: Array) -> tuple[Array, Array]:
    return part.rows(index).scored_dot(w, v)


def class_dot(
    part: Partition,
    index: Array | None,
    V: Array,
    shift: Array | None,
    P: Array,
    w: Array | None,
) -> Array:
    """Xᵀ R, and below it the sums of R where there is a shift: see ``Matrix.class_dot``."""
    product, sums = part.rows(index).class_dot(P, w, V, shift)
    return product if sums is None else np.vstack([product, sums])


def gram(part: Partition, index: Array | None, w: Array) -> Array:
    return part.rows(index).gram(w)


def quadratic(part: Partition, index: Array | None, A: Array) -> Array:
    return part.rows(index).quadratic(A)


def row_squares(part: Partition, index: Array | None) -> Array:
    return part.rows(index).row_squares()


def stored(part: Partition, index: Array | None) -> int:
    return part.rows(index).stored


def fingerprint(part: Partition, index: Array | None) -> str:
    return part.matrix.fingerprint()


def fetch(part: Partition, index: Array | None, chosen: Array | None) -> Any:
    return part.take(index, chosen)


def columns(part: Partition, index: Array | None, chosen: Array) -> Partition:
    return Partition(part.take(index, chosen), part.share)


def pick(values: tuple[Any, ...], place: int) -> Any:
    return values[place]


def with_lent(task: Callable[..., Any], *given: Any) -> Any:
    return task(*(value.read() if isinstance(value, Lent) else value for value in given))


def written(place: Lent, task: Callable[..., Array], *given: Any) -> None:
    """What the task gives, to where it is awaited."""
    place.write(task(*given))


def added(terms: list[Array]) -> Array:
    """What was handed in stays as it is: Dask may want it again."""
    total = terms[0] + terms[1] if len(terms) > 1 else terms[0]
    for term in terms[2:]:
        total += term
    return total


def added_firsts(terms: list[tuple[Array, Array]]) -> Array:
    return added([first for first, _ in terms])
