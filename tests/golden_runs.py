"""Small whole runs whose numbers are kept in ``tests/golden``: a change of structure changes none.

    python tests/golden_runs.py     writes them anew, after a change that is meant to change numbers

Each is a run from Python by public names alone. Fits and solves are to the last digits, so that the
numbers are those of the mathematics and not of the way there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import uids

FOLDER = Path(__file__).resolve().parent / "golden"
LEFT_OUT = ("seconds", "environment", "cache", "identity", "config")


def build(kind, name, **fields):
    return uids.REGISTRIES[kind].build(name, **fields)


def made(classes, sparse, n=240, d=12, seed=0):
    """(X, y) that a linear model can half learn."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if sparse:
        X *= rng.random((n, d)) < 0.3
    y = (X @ rng.standard_normal((d, classes)) + 2 * rng.standard_normal((n, classes))).argmax(1)
    return (sp.csr_matrix(X) if sparse else X), y


def text(n=90, d=2400, seed=1):
    """Many more columns than rows."""
    rng = np.random.default_rng(seed)
    common = rng.random((n, 4)) + 0.5
    X = sp.hstack([common, sp.random(n, d - 4, 0.02, rng=rng)], "csr")
    return X, (common @ [1.0, -1.0, 0.5, -0.5] + rng.logistic(size=n) > 0).astype(int)


def clicks(n=1500, fields=8, values=400, seed=2):
    """One-hot columns with a long tail."""
    rng = np.random.default_rng(seed)
    draws = np.minimum(rng.zipf(1.4, (n, fields)) - 1, values - 1) + values * np.arange(fields)
    X = np.zeros((n, fields * values))
    np.put_along_axis(X, draws, 1.0, axis=1)
    z = X @ rng.standard_normal(fields * values)
    return sp.csr_matrix(X), (z + rng.logistic(size=n) > 0).astype(int)


def tall(n=6000, d=210, seed=3):
    """Dense and so tall that the rows give a preconditioner."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.logspace(0, -2, d)
    return X, (X @ rng.standard_normal(d) + rng.logistic(size=n) > 0).astype(int)


def runs():
    """name ↦ the keywords of a run."""
    # As many threads everywhere: the metrics name them, and another number rounds otherwise.
    numba = build("backend", "numba", threads=2)
    exact = {"model": build("model", "logreg", tol=1e-13), "repeats": 2}
    found = {}
    for classes in (2, 3):
        for sparse in (False, True):
            for backend in ("numpy", "numba", "torch"):
                name = (
                    f"{'binary' if classes == 2 else 'softmax'}-{'sparse' if sparse else 'dense'}"
                )
                found[f"{name}-{backend}"] = {
                    "dataset": made(classes, sparse),
                    "backend": numba if backend == "numba" else backend,
                    "noise": 0.1,
                    **exact,
                }
    by_rows = made(2, True, n=60, seed=5)
    given = uids.Data(*made(2, True), validation=by_rows, test=made(2, True, n=80, seed=6))
    found |= {
        "defaults": {},
        "ratio-auto": {
            **exact,
            "ratio": "auto",
            "sampler": "dropout",
            "noise": 0.3,
            "choose": {"level": 0.1},
        },
        "alpha-auto": {
            **exact,
            "sampler": build("sampler", "linear", alpha="auto"),
            "ratio": 0.8,
            "noise": 0.2,
        },
        "weighted-optimal": {**exact, "sampler": "optimal", "ratio": 0.5},
        "weighted-mvc-softmax": {
            **exact,
            "dataset": made(3, False),
            "sampler": "mvc",
            "ratio": 0.6,
        },
        "joined-with-other-files": {
            **exact,
            "dataset": given,
            "backend": numba,
            "split": {"kind": "given"},
            "final": "subset+validation",
        },
        "wide-text-numba": {**exact, "dataset": text(), "backend": numba},
        "wide-text-numpy": {**exact, "dataset": text(), "backend": "numpy"},
        "clicks-numba": {**exact, "dataset": clicks(), "backend": numba},
        "clicks-numpy-pcg": {
            **exact,
            "dataset": clicks(),
            "backend": "numpy",
            "solver": build("solver", "pcg", tol=1e-12),
        },
        "tall-dense-numba": {**exact, "dataset": tall(), "backend": numba},
        "nystrom": {**exact, "solver": build("solver", "nystrom", rank=5, tol=1e-12)},
        "lissa": {**exact, "solver": build("solver", "lissa", tol=1e-6), "noise": 0.1},
        "sequential-bernoulli": {
            **exact,
            "split": {"kind": "sequential"},
            "draw": "bernoulli",
            "stratify": False,
        },
        "shift-rounds": {**exact, "split": {"kind": "shift"}, "draw": "rounds", "seed": 3},
        "torch-logreg": {
            "model": build("model", "torch_logreg", tol=1e-9),
            "dataset": made(3, False),
            "repeats": 1,
        },
    }
    for words in found.values():  # as when they were made: the defaults are not of these runs
        words.setdefault("stratify", True)
    return found


def numbers(result):
    """What is kept of a run: the metrics but for times and versions, φ, π and the kept rows."""
    from uids.system.files import plain

    metrics = {key: value for key, value in plain(result.metrics).items() if key not in LEFT_OUT}
    return {
        "metrics": metrics,
        "phi": result.influence.tolist(),
        "probability": result.probability.tolist(),
        "kept": np.flatnonzero(result.kept).tolist(),
        "theta": result.final.theta.tolist(),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, words in runs().items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        kept = numbers(uids.run(**words, cache=False))
        (FOLDER / f"{name}.json").write_text(json.dumps(kept) + "\n")
        print(name, len(kept["phi"]), kept["metrics"]["influence"]["solver"][:60])
