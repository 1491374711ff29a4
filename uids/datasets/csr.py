"""Sparse matrices, looked at in full before any loop reads them.

A compiled loop, ours or scipy's, takes indices and pointers at their word: one that is wrong reads
or writes foreign memory. scipy's own check takes the last pointer for the number of entries, so
that a matrix which ends in 0 or −1 passes it. Here every number is compared with the sizes of the
arrays themselves, at one pass over the pointers and one over the indices: less than a product.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from uids.errors import UidsError

Array = npt.NDArray[Any]


class InvalidError(ValueError):
    """What is wrong with the arrays, as the end of a sentence."""


def csr_of(given: Mapping[str, object], where: str) -> Any:
    """The CSR matrix of ``data``, ``indices``, ``indptr`` and ``shape``, which come from a file or
    a cache, if they are one."""
    try:
        sizes = shape_of(given["shape"])
        indices, indptr = (_whole(given[name], name) for name in ("indices", "indptr"))
        arrays = _vector(given["data"], "data"), indices, indptr
        _check_compressed(*arrays, sizes)
    except InvalidError as error:
        raise UidsError(f"{where}: X is not a valid CSR matrix: {error}") from error
    return _assembled(sp.csr_matrix(sizes), *arrays, index_type(sizes, len(indices)))


def as_csr(X: sp.spmatrix, where: str) -> Any:
    """CSR with sorted indices and no duplicates, of a sparse matrix of any of scipy's formats:
    itself where it is that already."""
    kind = str(X.format)
    try:
        shape = shape_of(X.shape)
        if kind != "csr":
            _check_format(X, kind, shape)
            X = X.tocsr()
        arrays = _vector(X.data, "data"), _whole(X.indices, "indices"), _whole(X.indptr, "indptr")
        _check_compressed(*arrays, shape)
    except InvalidError as error:
        raise UidsError(f"{where}: X is not a valid {kind.upper()} matrix: {error}") from error
    values, indices, indptr = arrays
    if values.dtype != np.bool_ and values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)  # before sums of duplicates, which could overflow
    wanted = indices.dtype
    if wanted not in (np.int32, np.int64) or indptr.dtype != wanted:
        wanted = np.dtype(index_type(shape, len(indices)))
    # Another object: whether it is sorted is looked at anew, whatever the matrix says of itself.
    empty = sp.csr_array(shape) if isinstance(X, sp.sparray) else sp.csr_matrix(shape)
    seen = _assembled(empty, values, indices, indptr, wanted)
    if not seen.has_canonical_format:
        seen = seen.copy()
        seen.sum_duplicates()  # sorts too
        return seen
    same = seen.data is X.data and seen.indices is X.indices and seen.indptr is X.indptr
    return X if same else seen


def index_type(shape: tuple[int, int], stored: int) -> type[np.signedinteger[Any]]:
    """As narrow as scipy wants indices: it would copy wider ones each time they are used."""
    return np.int32 if max(*shape, stored) <= np.iinfo(np.int32).max else np.int64


def shape_of(shape: object) -> tuple[int, int]:
    try:
        rows, columns = map(index, np.asarray(shape, dtype=object).tolist())
    except (TypeError, ValueError):
        raise InvalidError(f"its shape must be two whole numbers (it is {_shown(shape)})") from None
    if rows < 0 or columns < 0 or max(rows, columns) >= 2**63:
        raise InvalidError(f"its shape must be of sizes from 0 to 2^63 − 1 (it is {_shown(shape)})")
    return rows, columns


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def _vector(array: object, name: str, axes: int = 1) -> Array:
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise InvalidError(f"{name} must be a numpy array (it is a {type(array).__name__})")
    if array.ndim != axes:
        raise InvalidError(
            f"{name} must have {axes} axes, not {array.ndim} (its shape is {array.shape})"
        )
    if name == "data" and array.dtype.kind not in "fiub":
        raise InvalidError(f"data must hold real numbers (its type is {array.dtype})")
    return array


def _whole(array: object, name: str) -> Array:
    numbers = _vector(array, name)
    if numbers.dtype.kind not in "iu":
        raise InvalidError(f"{name} must hold whole numbers (its type is {numbers.dtype})")
    return numbers


def _check_compressed(
    data: Array,
    indices: Array,
    indptr: Array,
    shape: tuple[int, int],
    names: tuple[str, str] = ("row", "column"),
) -> None:
    """CSR is compressed by rows, CSC by columns: ``names`` are what is pointed to and what is
    indexed, ``shape`` how many there are of each."""
    many, size = shape
    outer, inner = names
    if len(indptr) != many + 1:
        raise InvalidError(
            f"indptr must have {many + 1:,} numbers, one more than {outer}s, not {len(indptr):,}"
        )
    if len(indices) != len(data):
        raise InvalidError(f"data has {len(data):,} entries, and indices {len(indices):,}")
    if indptr[0] != 0:
        raise InvalidError(f"indptr must begin with 0 (it begins with {indptr[0]})")
    falling = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falling):
        at = falling[0]
        raise InvalidError(
            f"indptr must not fall (from {indptr[at]} to {indptr[at + 1]} at {outer} {at})"
        )
    if indptr[-1] != len(indices):
        raise InvalidError(
            f"indptr must end with the number of entries, {len(indices):,} (it ends with "
            f"{indptr[-1]}); if the others are spare room, call prune() on the matrix"
        )
    check_bounds(indices, size, inner)


def check_bounds(indices: Array, size: int, name: str) -> None:
    """All in 0..size−1. Read as unsigned, a negative index is a very large one: one pass."""
    if not len(indices):
        return
    native = indices.astype(indices.dtype.newbyteorder("="), copy=False)
    if int(native.view(f"u{native.dtype.itemsize}").max()) >= size:
        wrong = np.flatnonzero((native < 0) | (native >= size))[0]
        raise InvalidError(
            f"the {name} {native[wrong]} of entry {wrong} is not one of its {size:,} {name}s"
        )


def _check_format(X: sp.spmatrix, kind: str, shape: tuple[int, int]) -> None:
    """Whatever scipy's conversion to CSR takes at its word, by the format's own arrays."""
    if kind == "csc":
        arrays = _vector(X.data, "data"), _whole(X.indices, "indices"), _whole(X.indptr, "indptr")
        _check_compressed(*arrays, (shape[1], shape[0]), ("column", "row"))
    elif kind == "coo":
        data = _vector(X.data, "data")
        for name, numbers, size in zip(("row", "column"), (X.row, X.col), shape, strict=True):
            where = _whole(numbers, f"{name} numbers")
            if len(where) != len(data):
                raise InvalidError(
                    f"data has {len(data):,} entries, and {len(where):,} {name} numbers"
                )
            check_bounds(where, size, name)
    elif kind == "bsr":
        _check_blocks(X, shape)
    elif kind == "lil":
        for name, lists in (("rows", X.rows), ("data", X.data)):
            if len(_vector(lists, f"{name} of lists")) != shape[0]:
                raise InvalidError(f"{name} must have {shape[0]:,} lists (it has {len(lists):,})")
        for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
            if len(columns) != len(values):
                raise InvalidError(
                    f"row {row} has {len(columns)} columns, and {len(values)} values"
                )
    elif kind == "dia":
        offsets, data = _whole(X.offsets, "offsets"), _vector(X.data, "diagonals", 2)
        if len(offsets) != len(data):
            raise InvalidError(f"it has {len(data)} diagonals, and {len(offsets)} offsets")


def _check_blocks(X: sp.spmatrix, shape: tuple[int, int]) -> None:
    blocks = _vector(X.data, "blocks", 3)
    height, width = blocks.shape[1:]
    if not height or not width or shape[0] % height or shape[1] % width:
        raise InvalidError(f"blocks of {height} × {width} do not fill a matrix of {shape}")
    outer = shape[0] // height, shape[1] // width
    indices, indptr = _whole(X.indices, "indices"), _whole(X.indptr, "indptr")
    _check_compressed(blocks[:, 0, 0], indices, indptr, outer)


def _assembled(
    X: sp.spmatrix, data: Array, indices: Array, indptr: Array, kind: npt.DTypeLike
) -> Any:
    """An empty matrix with these arrays. scipy's constructor would read all indices once more, to
    see whether narrower ones would do."""
    native = data.dtype.newbyteorder("=")
    X.data = data.astype(native, copy=False)
    X.indices, X.indptr = indices.astype(kind, copy=False), indptr.astype(kind, copy=False)
    return X
