"""Rows of a numpy array or a scipy CSR matrix in this process, and matrices that stand on them."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from uids.backends.frequent import most_frequent
from uids.backends.handed import read_only
from uids.backends.matrix import Array, Matrix
from uids.system.tuning import BLOCK_BYTES


class Host:
    """``X[index]``, or all of X where ``index`` is None; nothing is copied until it is fetched."""

    def __init__(self, X: Any, index: Array | None = None, whole: Host | None = None) -> None:
        self.X, self.index, self._whole = X, index, whole
        self.sparse = bool(sp.issparse(X))
        self.shape: tuple[int, int] = (X.shape[0] if index is None else len(index), X.shape[1])

    @property
    def whole(self) -> Host:
        """Itself, unless it is a view. It is not held as such: in a circle X would stay in memory
        until Python looks for circles."""
        return self._whole or self

    def take(self, index: Array) -> Host:
        """A view of some of these rows."""
        return Host(self.X, index if self.index is None else self.index[index], self.whole)

    def fetch(self) -> Any:
        return self.X if self.index is None else self.X[self.index]

    @cached_property
    def stored(self) -> int:
        if not self.sparse:
            return self.shape[0] * self.shape[1]
        if self.index is None:
            return int(self.X.nnz)
        starts = self.X.indptr
        return int((starts[self.index + 1] - starts[self.index]).sum(dtype=np.int64))

    @cached_property
    def all_ones(self) -> bool:
        """Of the whole: rows of other data may be all ones by chance."""
        if self.whole is not self:
            return self.whole.all_ones
        return self.sparse and all((part == 1).all() for part in cut(self.X.data))

    @cached_property
    def frequent(self) -> Array:
        """See ``Matrix.frequent``; of sparse rows that are no view."""
        return most_frequent(self.X)

    def blocks(self, height: int | None = None) -> Iterator[tuple[int, Any]]:
        """(first row, rows in float64), ``height`` rows at a time or within BLOCK_BYTES."""
        return blocks(self.X, self.index, height)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content; that of the whole is computed once for all its views."""
        seen = hashlib.sha256()
        if self.index is not None:
            seen.update(self.whole.fingerprint.encode())
            update(seen, self.index)
        elif self.sparse:
            for array in (self.X.data, self.X.indices, self.X.indptr):
                update(seen, array)
        else:
            height = max(1, BLOCK_BYTES // max(1, self.X[:1].nbytes))
            for start in range(0, len(self.X), height):
                update(seen, self.X[start : start + height])
        seen.update(repr(self.shape).encode())
        return seen.hexdigest()


def untouchable(X: Any) -> Any:
    """X for a component of another package, which cannot change it in place: the same numbers, and
    no copy of them. What lies elsewhere is handed over as it is."""
    if isinstance(X, np.ndarray):
        return read_only(X)
    if not sp.issparse(X) or X.format != "csr":
        return X
    view = copy.copy(X)
    view.data, view.indices, view.indptr = (read_only(a) for a in (X.data, X.indices, X.indptr))
    return view


def update(seen: Any, array: Array) -> None:
    seen.update(str(array.dtype).encode())
    seen.update(np.ascontiguousarray(array).view(np.uint8).data)


def cut(data: Array) -> Iterator[Array]:
    step = BLOCK_BYTES
    return (data[start : start + step] for start in range(0, len(data), step))


def blocks(
    X: Any, index: Array | None = None, height: int | None = None
) -> Iterator[tuple[int, Any]]:
    """(first row, rows in float64) of all rows or of those in ``index``, ``height`` at a time or
    within BLOCK_BYTES: no second X is ever made."""
    n = X.shape[0]
    stored = X.nnz if sp.issparse(X) else X.size
    height = height or max(1, int(BLOCK_BYTES // (8 * max(1, stored // max(1, n)))))
    for start in range(0, n if index is None else len(index), height):
        part = slice(start, start + height)
        yield start, X[part if index is None else index[part]].astype(np.float64, copy=False)


class HostMatrix(Matrix):
    """A matrix whose rows are in this process too: facts come from there.

    ``whole`` is the matrix of which it is a view, if it is one.
    """

    whole: HostMatrix | None = None

    def __init__(self, host: Host, note: str) -> None:
        self.host, self.note = host, note
        self.shape = host.shape

    @property
    def sparse(self) -> bool:
        return self.host.sparse

    @property
    def stored(self) -> int:
        return self.host.stored

    @property
    def all_ones(self) -> bool:
        return self.host.all_ones

    def fingerprint(self) -> str:
        return self.host.fingerprint

    def _blocks(self, height: int | None = None) -> Iterator[tuple[int, Any]]:
        return self.host.blocks(height)

    def fetch(self) -> Any:
        return self.host.fetch()

    def frequent(self) -> Array:
        if not self.sparse:
            return super().frequent()
        F = self.host.whole.frequent
        return F if self.host.index is None else F[self.host.index]

    def _rows(self, index: Array) -> Matrix:
        """A copy; a backend whose rows can be views of the whole has its own."""
        return self.like(self.fetch()[index])
