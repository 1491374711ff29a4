"""Many classes: the fit and φ of softmax regression beside scikit-learn's lbfgs and plain CG, and
the leverages of text beside a factorisation of H. Processor seconds in one process, by turns, the
least of several."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import problems
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.linear_model import LogisticRegression

from uids.backends import adopt_backend
from uids.models import Rows
from uids.models.adopted import adopt_model
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver

C = 0.1
TURNS = 2
ERROR = 1e-5  # as in the other parts
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


def dense(rows: int, rng: np.random.Generator) -> Any:
    """Of the shape of MNIST: 784 columns between 0 and 1, of which a fifth are not 0, that go
    together as the pixels of a stroke do."""
    parts = np.clip(rng.standard_normal((40, 784)), 0, None) * (rng.random((40, 784)) < 0.15)
    return np.clip(rng.gamma(0.3, 1.0, (rows, 40)) @ parts, 0, 4) / 4


def text(rows: int, rng: np.random.Generator, columns: int = 60_000) -> Any:
    """TF-IDF: some 90 words a row, few of them frequent, rows of length 1."""
    words = (rng.zipf(1.35, (rows, 90)) * 7919) % columns
    X = sp.csr_matrix(
        (rng.gamma(2.0, 1.0, rows * 90), (np.repeat(np.arange(rows), 90), words.ravel())),
        shape=(rows, columns),
    )
    return sp.csr_matrix(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))))


def clicks(rows: int, rng: np.random.Generator, columns: int = 100_000) -> Any:
    """Twenty fields of 0/1."""
    codes = (rng.zipf(1.3, (rows, 20)) * 7919 + 104729 * np.arange(20)) % columns
    X = sp.csr_matrix(
        (np.ones(rows * 20), (np.repeat(np.arange(rows), 20), codes.ravel())),
        shape=(rows, columns),
    )
    X.data[:] = 1
    return X


def labelled(X: Any, classes: int, rng: np.random.Generator) -> Any:
    Z = X @ rng.standard_normal((X.shape[1], classes))
    Z -= Z.mean(axis=0)
    return (2 * Z / Z.std() + rng.gumbel(size=Z.shape)).argmax(axis=1)


def least(work: Callable[[], Any], turns: int = TURNS) -> tuple[float, Any]:
    seconds, found = [], None
    for _ in range(turns):
        began = time.process_time()
        found = work()
        seconds.append(time.process_time() - began)
    return min(seconds), found


def plain_cg(X: Any, P: Any, G: Any, tolerance: float) -> Any:
    """H s = g by scipy's CG, H a product with X and one with Xᵀ."""
    (n, d), k = X.shape, P.shape[1]

    def product(v: Any) -> Any:
        V = v.reshape(d, k)
        U = X @ V
        U = P * (U - (P * U).sum(axis=1, keepdims=True))
        return ((X.T @ U) / n + V / (C * n)).ravel()

    H = LinearOperator((d * k, d * k), matvec=product, dtype=np.float64)
    s, _ = cg(H, G.ravel(), rtol=tolerance, maxiter=5000)
    return s


def many_classes(bench: Any) -> None:
    bench.section("m. Many classes, C = 0.1; processor seconds")
    bench.say("", *softmax_table(bench.quick), "", *leverage_table(bench.quick))
    bench.save()


def softmax_table(quick: bool) -> Iterator[str]:
    yield (
        "MNIST, and made-up rows of other shapes; no intercept, four fifths to train on and one to "
        "judge. Fits: scikit-learn at its own tolerance. φ: each at the loosest of "
        f"{', '.join(f'{t:.0e}' for t in TOLERANCES)} whose error is at most {ERROR:g} of the "
        "largest φ."
    )
    yield ""
    yield "| X | classes | fit, uids | lbfgs | ratio | φ, uids | error | plain CG | error | ratio |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    size = 10 if quick else 1
    rng = np.random.default_rng(0)
    found = problems.mnist()
    if found is not None:
        X, y = (part[: 25_000 // size] for part in found)
        yield softmax_row("MNIST", X / 255, y.astype(np.int64), 10)
    for name, X, classes in (
        ("dense", dense(12_000 // size, rng), 10),
        ("text", text(11_000 // size, rng), 20),
        ("clicks", clicks(100_000 // size, rng), 5),
    ):
        yield softmax_row(name, X, labelled(X, classes, rng), classes)


def softmax_row(name: str, X: Any, y: Any, classes: int) -> str:
    cut, backend = len(y) // 5, adopt_backend("auto")
    rows = Rows(backend.matrix(X[cut:]), y[cut:], classes)
    judges = Rows(backend.matrix(X[:cut]), y[:cut], classes)
    model = adopt_model({"name": "logreg", "C": C, "fit_intercept": False})
    ours, fitted = least(lambda: model.fit(rows))
    lbfgs = LogisticRegression(C=C, fit_intercept=False, max_iter=2000)
    theirs, _ = least(lambda: lbfgs.fit(X[cut:], y[cut:]))
    curvature = fitted.curvature(rows)
    exact = influence_at(curvature, rows, judges, adopt_solver({"name": "pcg", "tol": 1e-11})).phi

    def error(phi: Any) -> float:
        return float(np.abs(phi - exact).max() / np.abs(exact).max())

    def score(tolerance: float) -> Any:  # what a curvature keeps is made anew
        solver = adopt_solver({"name": "auto", "tol": tolerance})
        return influence_at(fitted.curvature(rows), rows, judges, solver).phi

    P, G = fitted.probabilities(rows), curvature.gradient(judges)

    def plain(tolerance: float) -> Any:
        return -curvature.row_products(rows, plain_cg(X[cut:], P, G, tolerance))

    ours_phi, ours_error = loosest(score, error)
    plain_phi, plain_error = loosest(plain, error)
    cells = f"{ours:.2f} | {theirs:.2f} | {theirs / ours:.1f} × | {ours_phi:.2f} | {ours_error:.0e}"
    cells += f" | {plain_phi:.2f} | {plain_error:.0e} | {plain_phi / ours_phi:.1f} ×"
    return f"| {name}, {X.shape[0] - cut:,} × {X.shape[1]:,} | {classes} | {cells} |"


def loosest(phi_at: Callable[[float], Any], error: Callable[[Any], float]) -> tuple[float, float]:
    """(seconds, error) at the first tolerance that is good enough."""
    for tolerance in TOLERANCES:
        seconds, phi = least(lambda: phi_at(tolerance))  # noqa: B023, called at once
        if error(phi) <= ERROR:
            return seconds, error(phi)
    return np.inf, np.inf


def leverage_table(quick: bool) -> Iterator[str]:
    rng, classes = np.random.default_rng(1), 4
    X = text(200 if quick else 2_000, rng, 300 if quick else 2_938)
    y = labelled(X, classes, rng)
    backend = adopt_backend("auto")
    rows = Rows(backend.matrix(X), y, classes)
    fitted = adopt_model({"name": "logreg", "C": C, "fit_intercept": False}).fit(rows)

    def ours() -> Any:
        found = influence_at(fitted.curvature(rows), rows, rows, adopt_solver("auto"))
        return found.leverage, found.leverage_error

    def theirs() -> Any:
        return factorised(X.toarray(), fitted.probabilities(rows))

    seconds, (h, stated) = least(ours)
    plain, right = least(theirs, 1)
    error = np.sqrt(np.mean((h / right - 1) ** 2))
    yield (
        f"Leverage of all rows of text, {X.shape[0]:,} × {X.shape[1]:,}, {classes} classes: uids "
        f"{seconds:.2f} s, by the inverse of H in numpy {plain:.1f} s, {plain / seconds:.0f} ×; "
        f"a relative error of {error:.1%} (root of the mean square over the rows), where uids says "
        f"{stated:.1%}."
    )


def factorised(X: Any, P: Any) -> Any:
    """tr(W_i M_i) / n with M_i from H⁻¹ itself."""
    (n, d), k = X.shape, P.shape[1]
    H = np.zeros((k, d, k, d))
    W = P[:, :, None] * (np.eye(k) - P[:, None, :])
    for a in range(k):
        for b in range(k):
            H[a, :, b, :] = (X * W[:, a, b, None]).T @ X / n
        H[a, range(d), a, range(d)] += 1 / (C * n)
    inverse = np.linalg.inv(H.reshape(k * d, k * d)).reshape(k, d, k, d)
    h = np.zeros(n)
    for a in range(k):
        for b in range(k):
            h += W[:, a, b] * np.einsum("ij,ij->i", X @ inverse[a, :, b, :], X)
    return h / n
