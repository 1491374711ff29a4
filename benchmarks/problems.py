"""The problems that are measured, made from a seed and kept as plain arrays on disk.

A problem is a folder. Dense rows are ``X.npy``; sparse rows ``data.npy``, ``indices.npy``,
``indptr.npy``; labels ``y.npy``; ``about.json`` has the rest. The validation rows are the same
files in the folder ``validation``. What is made is written in blocks: a problem may be larger
than memory.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

C = 0.1  # of every model here; without an intercept, which liblinear would penalise
POSITIVE = 0.2  # share of clicks
BLOCK = 200_000  # rows


def digits(folder: Path, rows: int, validation: int) -> None:
    """MNIST, even against odd, where its files are in UIDS_DATA; else pictures of that shape."""
    found = mnist()
    if found is None:
        return images(folder, rows, validation, 28, 1)
    X, y = found[0], found[1] % 2
    for part, taken in (("", slice(rows)), ("validation", slice(rows, rows + validation))):
        (folder / part).mkdir(parents=True, exist_ok=True)
        np.save(folder / part / "X.npy", X[taken].astype(np.float32) / 255)
        np.save(folder / part / "y.npy", y[taken].astype(np.int64))
    return about(folder, shape=[rows, 784], source="MNIST, even against odd")


def mnist() -> tuple[Any, Any] | None:
    """Pictures (60,000, 784) and digits, where the files are in UIDS_DATA."""
    source = Path(os.environ.get("UIDS_DATA") or ".")
    files = [source / f"train-{name}-ubyte.gz" for name in ("images-idx3", "labels-idx1")]
    if not all(file.exists() for file in files):
        return None
    with gzip.open(files[0]) as pictures, gzip.open(files[1]) as labels:
        X = np.frombuffer(pictures.read(), np.uint8, offset=16).reshape(-1, 784)
        return X, np.frombuffer(labels.read(), np.uint8, offset=8)


def images(folder: Path, rows: int, validation: int, side: int, channels: int) -> None:
    """Smooth fields of channels × side × side in [0, 1], half of them 0 as around a digit: the
    spectrum decays as that of pictures does. Labels from a linear model, a tenth of them noise."""
    rng = np.random.default_rng(0)
    frequency = np.sqrt(np.add.outer(np.fft.fftfreq(side) ** 2, np.fft.fftfreq(side) ** 2)) * side
    envelope = 1 / (1 + frequency) ** 1.5
    window = np.hanning(side + 2)[1:-1]
    window = np.outer(window, window) / window.max() ** 2
    weights = None
    for part, count in (("", rows), ("validation", validation)):
        place = folder / part
        place.mkdir(parents=True, exist_ok=True)
        d = channels * side * side
        X = np.lib.format.open_memmap(place / "X.npy", "w+", np.float32, (count, d))
        scores = np.empty(count)
        for start in range(0, count, 2000):
            size = min(2000, count - start)
            noise = rng.standard_normal((size, channels, side, side), dtype=np.float32)
            field = np.fft.ifft2(np.fft.fft2(noise) * envelope).real
            field += field.mean(axis=1, keepdims=True)  # colours go together
            field /= field.std(axis=(1, 2, 3), keepdims=True)
            if channels == 1:
                block = np.clip(field * window, 0, 1)
            else:
                block = np.clip(0.5 + 0.25 * field, 0, 1)
            X[start : start + size] = np.round(block.reshape(size, d) * 255) / 255
            if weights is None:
                low = np.fft.fft2(rng.standard_normal((channels, side, side))) * envelope
                weights = np.fft.ifft2(low).real.ravel()
                centre = float(np.mean(X[:size] @ weights))
                weights /= np.std(X[:size] @ weights) / 3
                centre = float(np.mean(X[:size] @ weights))
            scores[start : start + size] = X[start : start + size] @ weights - centre
        y = (rng.random(count) < 1 / (1 + np.exp(-scores))).astype(np.int64)
        flip = rng.random(count) < 0.05
        np.save(place / "y.npy", np.where(flip, 1 - y, y))
        X.flush()
    about(folder, shape=[rows, d])


def words(folder: Path, rows: int, validation: int, columns: int, width: int) -> None:
    """``width`` words a row out of ``columns`` with frequencies like 1 / rank; rows of length 1."""
    rng = np.random.default_rng(0)
    name = rng.permutation(columns).astype(np.int32)
    effect = rng.standard_normal(columns)
    for part, count in (("", rows), ("validation", validation)):
        rank = np.exp(rng.random((count, width)) * np.log(columns + 1)).astype(np.int64) - 1
        idf = np.log((columns + 1.0) / 1) - 0.5 * np.log(columns / (rank + 1.0))
        index = np.repeat(np.arange(count), width)
        X = sp.csr_matrix((idf.ravel(), (index, name[rank].ravel())), shape=(count, columns))
        X.sum_duplicates()
        X = sp.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X
        X = X.tocsr().astype(np.float32)
        X.sort_indices()
        noise = rng.logistic(size=count)
        y = (4 * (X @ effect) + noise > 0).astype(np.int64)
        save_sparse(folder / part, X, y)
    about(folder, shape=[rows, columns])


def vocabulary(fields: int, columns: int) -> np.ndarray:
    """How many values each field has: from 2 on, evenly spread in logarithm, summing to columns."""
    low, high = 1.0, 1e6
    for _ in range(200):  # the ratio of one field to the next, by bisection
        top = np.sqrt(low * high)
        sizes = np.maximum(2, np.geomspace(2, max(2.0, top), fields))
        low, high = (low, top) if sizes.sum() > columns else (top, high)
    sizes = sizes.astype(np.int64)
    sizes[-1] += columns - sizes.sum()
    return sizes


def clicks(folder: Path, rows: int, validation: int, test: int, columns: int, fields: int) -> None:
    """A click log: one value of each field a row, all stored values 1.

    Within a field frequencies go like 1 / rank, and most values are seen once or never. Column
    numbers are shuffled over all fields, as hashing does. Every value has an effect, and a fifth of
    the rows are clicks.
    """
    rng = np.random.default_rng(0)
    sizes = vocabulary(fields, columns)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    name = rng.permutation(columns).astype(np.int32)
    effect = (rng.standard_normal(columns) * 0.6 * (rng.random(columns) < 0.5)).astype(np.float32)
    base = None
    for part, count in (("", rows), ("validation", validation), ("test", test)):
        place = folder / part
        place.mkdir(parents=True, exist_ok=True)

        def array(file: str, kind: Any, size: int, place: Path = place) -> Any:
            return np.lib.format.open_memmap(place / f"{file}.npy", "w+", kind, (size,))

        indices = array("indices", np.int32, count * fields)
        data = array("data", np.float32, count * fields)
        y = array("y", np.int8, count)
        step = np.int32 if count * fields < 2**31 else np.int64
        np.save(place / "indptr.npy", np.arange(0, count * fields + 1, fields, dtype=step))
        for start in range(0, count, BLOCK):
            size = min(BLOCK, count - start)
            u = rng.random((size, fields), dtype=np.float32)
            rank = np.exp(u * np.log(sizes + 1.0).astype(np.float32)).astype(np.int64) - 1
            column = name[starts + np.clip(rank, 0, sizes - 1)]
            column.sort(axis=1)
            scores = effect[column].sum(axis=1)
            if base is None:
                base = intercept_for(scores, POSITIVE)
            y[start : start + size] = rng.logistic(size=size) < scores + base
            indices[start * fields : (start + size) * fields] = column.ravel()
            data[start * fields : (start + size) * fields] = 1
    about(folder, shape=[rows, columns])


def intercept_for(scores: np.ndarray, share: float) -> float:
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        mean = np.mean(1 / (1 + np.exp(-(scores + middle))))
        low, high = (low, middle) if mean > share else (middle, high)
    return low


def registered(folder: Path, name: str, quick: bool) -> None:
    """One of uids' own data sets; the last fifth of a random order is for validation."""
    import uids

    data = uids.REGISTRIES["dataset"].build(name).load()
    X, y = (data.X, data.y) if hasattr(data, "X") else data
    y = np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(len(y))[: 1000 if quick else None]
    cut = len(order) * 4 // 5
    for part, index in (("", order[:cut]), ("validation", order[cut:])):
        rows = X[np.sort(index)]
        if sp.issparse(X):
            save_sparse(folder / part, rows, y[np.sort(index)])
        else:
            (folder / part).mkdir(parents=True, exist_ok=True)
            np.save(folder / part / "X.npy", rows)
            np.save(folder / part / "y.npy", y[np.sort(index)])
    about(folder, shape=[cut, X.shape[1]])


def save_sparse(place: Path, X: Any, y: np.ndarray) -> None:
    place.mkdir(parents=True, exist_ok=True)
    for name in ("data", "indices", "indptr"):
        np.save(place / f"{name}.npy", getattr(X, name))
    np.save(place / "y.npy", y)


def about(folder: Path, **keys: Any) -> None:
    path = folder / "about.json"
    known = json.loads(path.read_text()) if path.exists() else {"C": C}
    path.write_text(json.dumps({**known, **keys}))


def load(place: Path, columns: int, mapped: bool = False) -> tuple[Any, np.ndarray]:
    """(X, y) of the folder, or of its folder ``validation`` or ``test``."""
    mode: Any = "r" if mapped else None
    if (place / "X.npy").exists():
        return np.load(place / "X.npy", mode), np.load(place / "y.npy")
    arrays = [np.load(place / f"{name}.npy", mode) for name in ("data", "indices", "indptr")]
    X = sp.csr_matrix(tuple(arrays), shape=(len(arrays[2]) - 1, columns), copy=False)
    return X, np.load(place / "y.npy")


Maker = Callable[[Path], None]


def shapes(quick: bool) -> dict[str, Maker]:
    """Every generated problem by its name; ``quick`` ones are some fifty times smaller."""
    n = 50 if quick else 1

    def click(rows: int, columns: int, fields: int) -> Maker:
        rows, columns = rows // n, columns // n
        held = max(2000, min(rows // 10, 1_000_000))
        return lambda folder: clicks(folder, rows, held, held, columns, fields)

    return {
        "dense 20,000 × 784": lambda f: digits(f, 20_000 // n, 5_000 // n),
        "dense 60,000 × 3,072": lambda f: images(
            f, 60_000 // n, 10_000 // n, 32 // (1 + 3 * quick), 3
        ),
        "sparse 50,000 × 200,000": lambda f: words(f, 50_000 // n, 10_000 // n, 200_000 // n, 40),
        "clicks 180,000 × 500,000": click(180_000, 500_000, 30),
        "criteo1%": click(456_674, 1_000_000, 39),
        "avazu_app": click(14_600_000, 1_000_000, 15),
        "avazu_site": click(25_800_000, 1_000_000, 15),
    }
