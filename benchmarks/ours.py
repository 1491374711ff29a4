"""What runs in uids' own environment: uids, and scipy, numpy and scikit-learn beside it.

See ``clock.main``. φ at a fitted θ̂; "fit …" for fits, whose answer is θ̂; "product …" for
Xᵀ(w ∘ (X v)).
"""

from __future__ import annotations

import json
import time
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import clock
import numpy as np
import problems
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

TOLERANCES = [10 ** (-k / 4) for k in range(8, 41)]
CHECKED = 10  # iterations of a solve that is broken off, after which its answer is looked at


class Problem:
    def __init__(self, folder: Path, mapped: bool = False) -> None:
        about = json.loads((folder / "about.json").read_text())
        self.C = about["C"]
        columns = about["shape"][1]
        self.X, self.y = problems.load(folder, columns, mapped)
        self.Xv, self.yv = problems.load(folder / "validation", columns, mapped)
        self.y, self.yv = self.y.astype(np.int64), self.yv.astype(np.int64)
        self.theta = (
            np.load(folder / "theta.npy") if (folder / "theta.npy").exists() else np.zeros(columns)
        )


def rows_of(p: Problem, backend: Any = "numba") -> tuple[Any, Any, Any]:
    from uids.backends import adopt
    from uids.models import Rows
    from uids.models.logistic.fitted import FittedLogistic

    train = Rows(adopt(backend, p.X), p.y, 2)
    validation = Rows(adopt(backend, p.Xv), p.yv, 2)
    return train, validation, FittedLogistic(p.theta, 2, p.C, False)


def uids_phi(folder: Path) -> Any:
    """The solve and the products, on rows that are prepared: what the others are timed for."""
    from uids.registry import REGISTRIES
    from uids.scoring.influence import influence_at
    from uids.solvers.adopted import adopt_solver

    train, validation, fitted = rows_of(Problem(folder))

    def call(tol: float) -> Any:
        solver = adopt_solver(REGISTRIES["solver"].build("auto", tol=tol))
        return influence_at(fitted.curvature(train), train, validation, solver).phi

    return call, TOLERANCES


def uids_call(folder: Path) -> Any:
    """``uids.influence`` from plain arrays: with its checks of the data."""
    import uids

    p = Problem(folder)
    fitted = rows_of(p)[2]

    def call(tol: float) -> Any:
        solver = uids.REGISTRIES["solver"].build("auto", tol=tol)
        pairs = (p.X, p.y), (p.Xv, p.yv)
        return uids.influence(fitted, *pairs, solver=solver, backend="numba").phi

    return call, TOLERANCES


def scipy_cg(folder: Path, M: str = "", precision: str | None = None) -> Any:
    """scipy's cg on XᵀDX + I/C, in the precision of X unless another is given. M is nothing, the
    ``mixed`` diagonal of uids' pcg, or ``own``: what uids itself takes, made within the call."""
    p = Problem(folder)
    X, Xv = p.X, p.Xv
    if precision:
        X, Xv = X.astype(precision, copy=False), Xv.astype(precision, copy=False)
    rows = rows_of(p) if M == "own" else None
    kind, theta, d = X.dtype, p.theta.astype(X.dtype), X.shape[1]

    def call(tol: float) -> Any:
        probability = expit(X @ theta)
        w = probability * (1 - probability)
        g = Xv.T @ (expit(Xv @ theta) - p.yv).astype(kind)

        def product(v: Any) -> Any:
            return X.T @ (w * (X @ v)) + v / kind.type(p.C)

        inverse = None
        if M == "mixed":  # α = ½
            square = X.multiply(X).T if sp.issparse(X) else (X * X).T
            m = 0.5 * p.C * (square @ w) + 1
            inverse = LinearOperator((d, d), lambda r: r / m, dtype=kind)
        elif M == "own":
            train, _, fitted = rows
            own = fitted.curvature(train).preconditioner()
            if own is None:
                raise SystemExit("uids takes none here: it factorises")
            inverse = LinearOperator((d, d), own, dtype=kind)
        A = LinearOperator((d, d), product, dtype=kind)
        s, _ = cg(A, g, rtol=tol, maxiter=5000, M=inverse)
        return -len(p.y) * (X @ s.astype(kind)) * (probability - p.y)

    return call, TOLERANCES


def scipy_for_a_while(folder: Path, precision: str | None = None) -> Any:
    """scipy's unpreconditioned cg until the answer is good or the seconds in the file ``limit`` are
    over, whichever is first: its error then. The looks at the answer are not counted."""
    p = Problem(folder)
    X = p.X.astype(precision, copy=False) if precision else p.X
    truth, limit = np.load(folder / "reference.npy"), float((folder / "limit").read_text())
    kind, theta = X.dtype, p.theta.astype(X.dtype)

    def call(setting: Any) -> Any:
        began, looked, iterations, phi = time.perf_counter(), 0.0, 0, truth * 0
        probability = expit(X @ theta)
        w = probability * (1 - probability)
        g = p.Xv.T.astype(kind) @ (expit(p.Xv @ theta) - p.yv).astype(kind)

        def look(s: Any) -> None:
            nonlocal iterations, looked, phi
            iterations += 1
            spent = time.perf_counter() - began - looked
            if iterations % CHECKED and spent < limit:
                return
            start = time.perf_counter()
            phi = -len(p.y) * (X @ s.astype(kind)) * (probability - p.y)
            good = np.abs(phi - truth).max() <= clock.ERROR * np.abs(truth).max()
            looked += time.perf_counter() - start
            if good or spent >= limit:
                raise StopIteration

        A = LinearOperator(
            (X.shape[1],) * 2, lambda v: X.T @ (w * (X @ v)) + v / kind.type(p.C), dtype=kind
        )
        with suppress(StopIteration):
            cg(A, g, rtol=1e-12, maxiter=10**6, callback=look)
        return phi

    return call, [None]


def cholesky(folder: Path, precision: str) -> Any:
    p = Problem(folder)
    X, Xv = p.X.astype(precision, copy=False), p.Xv.astype(precision, copy=False)
    theta = p.theta.astype(precision)

    def call(setting: Any) -> Any:
        probability = expit(X @ theta)
        scaled = X * np.sqrt(probability * (1 - probability))[:, None]
        H = scaled.T @ scaled
        H[np.arange(len(H)), np.arange(len(H))] += 1 / p.C
        g = Xv.T @ (expit(Xv @ theta) - p.yv).astype(precision)
        s = scipy.linalg.cho_solve(scipy.linalg.cho_factor(H, overwrite_a=True), g)
        return -len(p.y) * (X @ s) * (probability - p.y)

    return call, [None]


def objective(p: Problem, theta: Any) -> float:
    z = p.X @ theta
    return float(0.5 * theta @ theta + p.C * np.sum(np.logaddexp(0, z) - p.y * z))


def uids_fit(folder: Path, tol: float | None = None) -> Any:
    from uids.registry import REGISTRIES

    p = Problem(folder)
    rows = rows_of(p)[0]
    keys = {} if tol is None else {"tol": tol}
    model = REGISTRIES["model"].build("logreg", C=p.C, fit_intercept=False, **keys)
    return lambda setting: model.fit(rows).theta, [None]


def sklearn_fit(folder: Path, solver: str) -> Any:
    """At scikit-learn's own tolerance, with as many iterations as it takes."""
    from sklearn.linear_model import LogisticRegression

    warnings.simplefilter("ignore")
    p = Problem(folder)
    # liblinear and newton-cholesky work in float64 whatever they are given.
    X = p.X if solver in ("lbfgs", "newton-cg") else p.X.astype(np.float64)

    def call(setting: Any) -> Any:
        keys = {"C": p.C, "fit_intercept": False, "solver": solver, "max_iter": 1000}
        return LogisticRegression(**keys).fit(X, p.y).coef_[0]

    return call, [None]


def product(folder: Path, who: str) -> Any:
    p = Problem(folder)
    rng = np.random.default_rng(0)
    w, v = rng.random(len(p.y)) / 4, rng.standard_normal(p.X.shape[1])
    if who == "scipy":
        X = p.X.astype(np.float64)
        return lambda setting: X.T @ (w * (X @ v)), [None]
    rows = rows_of(p, "numba")[0]
    return lambda setting: rows.X.gram_dot(w, v), [None]


def whole_run(folder: Path) -> Any:
    """Fit, influence, sample, refit and evaluation on data that stay on disk; one repeat."""
    import uids

    p = Problem(folder, mapped=True)
    test = (
        problems.load(folder / "test", p.X.shape[1], True) if (folder / "test").exists() else None
    )
    p.y = np.load(folder / "y.npy")  # as it is stored, in one byte a row
    data = uids.Data(p.X, p.y, (p.Xv, p.yv), test)
    model = uids.REGISTRIES["model"].build("logreg", C=p.C, fit_intercept=False)

    def call(setting: Any) -> Any:
        found = uids.run(
            data, model, repeats=1, cache=False, backend="auto", split={"kind": "given"}
        )
        (folder / "whole run.json").write_text(json.dumps(found.metrics["seconds"]))
        np.save(folder / "theta.npy", found.full.theta)
        return found.influence

    return call, [None]


def own_reference(folder: Path) -> Any:
    """For rows of which scipy's products take seconds: uids to 1e-10."""
    return uids_phi(folder)[0], [1e-10]


def reference(folder: Path) -> Any:
    """float64: by factorisation up to 1,000 dense features, else by scipy's cg to 1e-12."""
    p = Problem(folder, mapped=True)
    if p.X.shape[1] <= 1000 and not sp.issparse(p.X):
        return cholesky(folder, "float64")
    call, _ = scipy_cg(folder, "mixed" if sp.issparse(p.X) else "", "float64")
    return call, [1e-12]


SOLVERS = ("lbfgs", "newton-cg", "liblinear", "newton-cholesky")
CONTESTANTS: dict[str, Any] = {
    "uids": uids_phi,
    "uids.influence": uids_call,
    "scipy CG": scipy_cg,
    "scipy PCG": partial(scipy_cg, M="mixed"),
    "scipy PCG, M of uids": partial(scipy_cg, M="own", precision="float64"),
    "scipy CG, broken off": scipy_for_a_while,
    "scipy CG float64, broken off": partial(scipy_for_a_while, precision="float64"),
    "scipy CG float64": partial(scipy_cg, precision="float64"),
    "scipy PCG float64": partial(scipy_cg, M="mixed", precision="float64"),
    "numpy Cholesky float32": partial(cholesky, precision="float32"),
    "numpy Cholesky float64": partial(cholesky, precision="float64"),
    "fit uids": uids_fit,
    "fit uids tol=1e-5": partial(uids_fit, tol=1e-5),
    **{f"fit {solver}": partial(sklearn_fit, solver=solver) for solver in SOLVERS},
    "product uids": partial(product, who="uids"),
    "product scipy": partial(product, who="scipy"),
    "whole run": whole_run,
    "reference": reference,
    "own reference": own_reference,
}

if __name__ == "__main__":
    clock.main(CONTESTANTS, ordered=True)
