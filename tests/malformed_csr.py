"""Sparse matrices that are none: a table of faults, by where they come in and who multiplies.

``python malformed_csr.py SOURCE BACKEND`` tries all faults of a source, in a process of its own: a
loop that reads foreign memory ends it, and whoever started it sees that. It prints, for each fault,
a line before it is tried, and one that says what came of it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import uids

ROWS, COLUMNS = 60, 20
BACKENDS = ("numpy", "numba")
LARGE = 2**31 - 1


def changed(name, change):
    """A fault in one array: ``change`` gives another, or changes a copy in place."""

    def fault(arrays):
        copy = np.array(arrays[name])
        result = change(copy)
        return {**arrays, name: copy if result is None else result}

    return fault


def put(at, value):
    return lambda array: array.__setitem__(at, value)


COMPRESSED = {
    "indptr ends in 0": changed("indptr", put(-1, 0)),
    "indptr ends in -1": changed("indptr", put(-1, -1)),
    "indptr ends below": changed("indptr", lambda a: np.minimum(a, a[-1] // 2)),
    "indptr ends beyond": changed("indptr", put(-1, 10**6)),
    "indptr ends far beyond": changed("indptr", put(-1, LARGE)),
    "indptr begins with 5": changed("indptr", put(0, 5)),
    "indptr begins with -5": changed("indptr", put(0, -5)),
    "indptr falls": changed("indptr", put(7, LARGE)),
    "indptr negative inside": changed("indptr", put(7, -3)),
    "indptr all 0": changed("indptr", np.zeros_like),
    "indptr too short": changed("indptr", lambda a: a[:-1]),
    "indptr too long": changed("indptr", lambda a: np.append(a, a[-1])),
    "indptr empty": changed("indptr", lambda a: a[:0]),
    "indptr of float": changed("indptr", lambda a: a.astype(float)),
    "indptr of text": changed("indptr", lambda a: a.astype(str)),
    "indptr of two axes": changed("indptr", lambda a: a[None]),
    "index beyond": changed("indices", put(3, 10**6)),
    "index just beyond": changed("indices", put(-1, 60)),
    "index far beyond": changed("indices", put(0, LARGE)),
    "index negative": changed("indices", put(5, -1)),
    "index very negative": changed("indices", put(5, -LARGE)),
    "indices too short": changed("indices", lambda a: a[:-2]),
    "indices empty": changed("indices", lambda a: a[:0]),
    "indices of float": changed("indices", lambda a: a + 0.5),
    "indices of complex": changed("indices", lambda a: a.astype(complex)),
    "indices of two axes": changed("indices", lambda a: a[None]),
    "indices wrapped": changed("indices", lambda a: a.astype(np.uint64) + np.uint64(2**63)),
    "data too short": changed("data", lambda a: a[:-2]),
    "data too long": changed("data", lambda a: np.append(a, 1.0)),
    "data empty": changed("data", lambda a: a[:0]),
    "data of two axes": changed("data", lambda a: a[None]),
    "data complex": changed("data", lambda a: a + 1j),
    "data of text": changed("data", lambda a: a.astype(str)),
    "data of dates": changed("data", lambda a: a.astype("M8[s]")),
    "data not finite": changed("data", put(4, np.nan)),
    "more rows": changed("shape", put(0, 10**6)),
    "fewer rows": changed("shape", put(0, 3)),
    "fewer columns": changed("shape", put(1, 3)),
    "no rows": changed("shape", put(0, 0)),
    "no columns": changed("shape", put(1, 0)),
    "negative rows": changed("shape", put(0, -60)),
    "negative columns": changed("shape", put(1, -20)),
    "shape of one": changed("shape", lambda a: a[:1]),
    "shape of three": changed("shape", lambda a: np.append(a, 1)),
    "shape of float": changed("shape", lambda a: a + 0.5),
    "shape of text": changed("shape", lambda a: a.astype(str)),
}
COORDINATES = {
    "row beyond": changed("row", put(3, 10**6)),
    "row negative": changed("row", put(3, -7)),
    "column beyond": changed("col", put(3, 10**6)),
    "column negative": changed("col", put(3, -7)),
    "row of float": changed("row", lambda a: a + 0.5),
    "rows too short": changed("row", lambda a: a[:-1]),
    "columns too short": changed("col", lambda a: a[:-1]),
    "data too short": changed("data", lambda a: a[:-1]),
    "data complex": changed("data", lambda a: a + 1j),
}
BLOCKS = {
    name: fault for name, fault in COMPRESSED.items() if name.startswith(("indptr", "index "))
}
OTHERS = {
    "lists of other length": "lil",
    "too few lists": "lil",
    "column beyond in a list": "lil",
    "more offsets than diagonals": "dia",
    "offsets of float": "dia",
}
SOURCES = {
    "npz": COMPRESSED,
    "npz validation": COMPRESSED,
    "csr": COMPRESSED,
    "csr validation": COMPRESSED,
    "influence": COMPRESSED,
    "csc": COMPRESSED,
    "coo": COORDINATES,
    "bsr": BLOCKS,
    "others": OTHERS,
}


def good(seed=0):
    rng = np.random.default_rng(seed)
    X = sp.csr_matrix(rng.standard_normal((ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < 0.4))
    return X, np.arange(ROWS) % 2


def arrays_of(X, names):
    return {**{name: getattr(X, name) for name in names}, "shape": np.array(X.shape)}


def disguised(X, arrays):
    """A matrix of scipy's with these arrays, past its constructor."""
    for name, array in arrays.items():
        if name == "shape":
            X._shape = tuple(array.tolist())
        elif name in ("row", "col") and isinstance(X.coords, tuple):
            place = ("row", "col").index(name)
            X.coords = tuple(array if k == place else X.coords[k] for k in (0, 1))
        else:
            setattr(X, name, array)
    return X


def of_lists_or_diagonals(fault):
    X = good()[0].tolil() if OTHERS[fault] == "lil" else sp.dia_matrix(good()[0].toarray())
    if fault == "lists of other length":
        X.rows[3] = X.rows[3] + [1, 2, 3]
    elif fault == "too few lists":
        X.rows = X.rows[:-5]
    elif fault == "column beyond in a list":
        X.rows[3] = [column + 10**6 for column in X.rows[3]]
    elif fault == "more offsets than diagonals":
        X.offsets = np.append(X.offsets, 3)
    else:
        X.offsets = X.offsets + 0.5
    return X


def malformed(source, fault):
    X, _ = good()
    change = SOURCES[source][fault]
    if source == "others":
        return of_lists_or_diagonals(fault)
    if source == "coo":
        X = X.tocoo()
        return disguised(X, change(arrays_of(X, ("data", "row", "col"))))
    if source in ("csc", "bsr"):
        X = X.tocsc() if source == "csc" else X.tobsr((2, 2))
    return disguised(X, change(arrays_of(X, ("data", "indices", "indptr"))))


def attempt(source, fault, backend, folder):
    """Whatever a person would do with it."""
    options = {"backend": backend, "cache": False, "repeats": 1}
    X, y = good()
    if source.startswith("npz"):
        files = {"train": folder / "good.npz", "bad": folder / "bad.npz"}
        arrays = arrays_of(X, ("data", "indices", "indptr"))
        np.savez(files["train"], y=y, **arrays)
        np.savez(files["bad"], y=y, **COMPRESSED[fault](arrays))
        paths = {"train": str(files["train" if "validation" in source else "bad"])}
        if "validation" in source:
            paths["validation"] = str(files["bad"])
        return uids.run(dataset=uids.REGISTRIES["dataset"].build("npz", **paths), **options)
    wrong = malformed(source if source != "csr validation" else "csr", fault)
    if source == "csr validation":
        return uids.run(dataset=uids.Data(X, y, validation=(wrong, y)), **options)
    if source == "influence":
        return uids.influence("logreg", (wrong, y), good(1), backend=backend)
    return uids.run(dataset=(wrong, y), **options)


def main(source, backend):
    with tempfile.TemporaryDirectory() as folder:
        for fault in SOURCES[source]:
            print(f"try\t{fault}", flush=True)
            try:
                attempt(source, fault, backend, Path(folder))
                outcome = "ran"
            except uids.UidsError as error:
                outcome = f"{type(error).__name__}: {error}"
            except Exception as error:
                outcome = f"{type(error).__name__}! {error}"
            print(f"end\t{outcome!r}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
