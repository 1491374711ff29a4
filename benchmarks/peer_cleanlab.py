"""The rivals' side of ``rivals.py``: cleanlab and loss trimming. Run by the interpreter of
.venv-rivals, which has scikit-learn and cleanlab but not uids.

Reads the path of a problem from each line of its input and answers with a line of JSON: so that the
imports, which take longer than a small problem, are paid for once.

Every rival is given the validation rows, as uids is. T are the training rows, V the validation
rows, cut into FOLDS parts V_f. With l the logloss and θ(A, C) the logistic regression of rows A:

- ``cleanlab``: P(y | x) of each training row under θ(T without its fold + V, C); what
  ``find_label_issues`` finds is dropped; the model is θ(rest + V, C).
- ``trimming``: the share t of T with the largest l under θ(T + V, C) is dropped; the model is
  θ(rest + V, C). t has the least Σ_f l(V_f), everything being done with V without V_f.

- ``full_C``, ``full_plus_validation_C``, ``full_plus_validation_w``, ``full_plus_validation_Cw``:
  nothing dropped, C, or the weight of each validation row, or both, of the least Σ_f l(V_f).

The first two at C = 0.1, and (``…_C``) at the C of the least Σ_f l(V_f). For cleanlab's C the
pruning at each C is not done again for each f, only the fit after it is: the issues of one C are
found with all of V, as its user would find them.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

DEFAULT_C = 0.1  # that of uids
CS = (0.01, 0.1, 1.0, 10.0, 100.0)
TRIMS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)  # shares of the training rows
WEIGHTS = (1.0, 3.0, 10.0, 30.0)  # of each validation row
FOLDS = 5
FEW_COLUMNS = 200  # up to which the Hessian of a binary model is factorised
ROUNDING = 1e-12  # of an eigenvalue, relative to the largest

Array = np.ndarray
Fold = tuple[Array, Array]  # positions of the validation rows to fit with, and to judge with


@dataclass(frozen=True)
class Problem:
    """Training, validation and test rows, and which of the training rows are wrong. The rows of
    the first two are those of ``X``, training rows first."""

    X: Any
    y: Array
    n: int  # training rows
    X_test: Any
    y_test: Array
    wrong: Array  # positions
    classes: int
    seed: int

    @property
    def validation(self) -> Array:
        return np.arange(self.n, len(self.y))

    def folds(self) -> Iterator[Fold]:
        V = self.validation
        for rest, judged in self.shares(self.y[V]):
            yield V[rest], V[judged]

    def shares(self, y: Array) -> Iterator[Fold]:
        cut = StratifiedKFold(FOLDS, shuffle=True, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class of fewer rows than folds
            yield from list(cut.split(np.zeros(len(y)), y))


def read(path: str) -> Problem:
    with np.load(path, allow_pickle=False) as archive:
        X, X_test = (_matrix(archive, part) for part in ("fit", "test"))
        if sp.issparse(X):
            X, X_test = (
                rotated(X, X_test) if X.shape[1] > X.shape[0] else (X.toarray(), X_test.toarray())
            )
        return Problem(
            X,
            archive["y"],
            int(archive["n"]),
            X_test,
            archive["y_test"],
            archive["wrong"],
            int(archive["classes"]),
            int(archive["seed"]),
        )


def rotated(X: Any, X_test: Any) -> tuple[Array, Array]:
    """Rows of more columns than there are rows, in n coordinates: with X Xᵀ = U diag(w) Uᵀ they are
    U √w, and the test rows X_test Xᵀ U / √w. The ridge sees inner products alone, and θ lies in the
    span of the rows: every fit on some of the rows gives the same probabilities."""
    w, U = np.linalg.eigh((X @ X.T).toarray())
    real = w > ROUNDING * w[-1]
    root, U = np.sqrt(w[real]), U[:, real]
    return U * root, (X_test @ X.T).toarray() @ U / root


def _matrix(archive: Any, part: str) -> Any:
    if f"{part}_X" in archive:
        return archive[f"{part}_X"]
    data, indices, indptr, shape = (
        archive[f"{part}_{name}"] for name in ("data", "indices", "indptr", "shape")
    )
    return sp.csr_matrix((data, indices, indptr), shape=tuple(shape))


class Fits:
    """Fits on rows of one problem at one C, each started from the one before it: they differ by a
    few rows, and where a fit starts does not decide where it ends."""

    def __init__(self, problem: Problem, C: float) -> None:
        few = problem.X.shape[1] <= FEW_COLUMNS and problem.classes == 2
        solver, tol = ("newton-cholesky", 1e-6) if few else ("newton-cg", 1e-5)
        self.problem, self.C = problem, C
        self.model = LogisticRegression(C=C, solver=solver, tol=tol, max_iter=5000, warm_start=True)

    def fit(self, rows: Array, weight: float = 1.0) -> None:
        """``weight`` is that of each validation row."""
        y = self.problem.y[rows]
        missing = np.setdiff1d(np.arange(self.problem.classes), y)
        if len(missing):
            raise ValueError(f"no row of class {missing[0]} is left to fit on")
        weights = None if weight == 1 else np.where(rows >= self.problem.n, weight, 1.0)
        self.model.fit(self.problem.X[rows], y, sample_weight=weights)

    def scores(self, X: Any) -> Array:
        """z (n, K), of which the probabilities are the softmax."""
        z = X @ self.model.coef_.T + self.model.intercept_
        return np.column_stack([np.zeros(len(z)), z]) if z.shape[1] == 1 else z

    def losses(self, rows: Array) -> Array:
        return losses(self.scores(self.problem.X[rows]), self.problem.y[rows])


def losses(z: Array, y: Array) -> Array:
    return logsumexp(z, axis=1) - z[np.arange(len(y)), y]


@dataclass(frozen=True)
class Found:
    """What cleanlab says of the training rows at one C."""

    kept: Array
    quality: Array  # low where the label is likely to be wrong


def cleanlab_at(fits: Fits) -> Found:
    problem = fits.problem
    y = problem.y[: problem.n]
    P = np.empty((problem.n, problem.classes))
    for rest, judged in problem.shares(y):
        fits.fit(np.concatenate([rest, problem.validation]))
        P[judged] = softmax(fits.scores(problem.X[judged]), axis=1)
    issues = find_label_issues(y, P, n_jobs=1)
    return Found(np.flatnonzero(~issues), get_label_quality_scores(y, P, method="self_confidence"))


def judge_kept(fits: Fits, kept: Array, weight: float = 1.0) -> float:
    """The mean of l(V_f) under θ(kept + V without V_f)."""
    total = 0.0
    for rest, judged in fits.problem.folds():
        fits.fit(np.concatenate([kept, rest]), weight)
        total += fits.losses(judged).sum()
    return total / len(fits.problem.validation)


def trimmed(training_losses: Array, share: float) -> Array:
    """The training rows without the share that has the largest losses."""
    order = np.argsort(training_losses, kind="stable")
    return np.sort(order[: len(order) - int(share * len(order))])


def judge_trims(fits: Fits) -> Array:
    """For each share to trim, the mean of l(V_f)."""
    problem, train = fits.problem, np.arange(fits.problem.n)
    total = np.zeros(len(TRIMS))
    for rest, judged in problem.folds():
        fits.fit(np.concatenate([train, rest]))
        training_losses = fits.losses(train)
        for k, share in enumerate(TRIMS):
            fits.fit(np.concatenate([trimmed(training_losses, share), rest]))
            total[k] += fits.losses(judged).sum()
    return total / len(problem.validation)


def measures(fits: Fits, kept: Array, weight: float = 1.0, **chosen: float) -> dict[str, float]:
    """Of θ(kept + V) on the test rows, or with no weight θ(kept), and what led to it."""
    problem = fits.problem
    rows = [kept, problem.validation] if weight else [kept]
    fits.fit(np.concatenate(rows), weight or 1.0)
    z, y = fits.scores(problem.X_test), problem.y_test
    if problem.classes == 2:
        auc = roc_auc_score(y, z[:, 1] - z[:, 0])
    else:
        P, present = softmax(z, axis=1), np.unique(y)
        auc = np.mean([roc_auc_score(y == k, P[:, k]) for k in present])
    return {
        "logloss": float(losses(z, y).mean()),
        "accuracy": float((z.argmax(axis=1) == y).mean()),
        "auc": float(auc),
        "C": fits.C,
        "weight": weight,
        "dropped": problem.n - len(kept),
        **chosen,
    }


def answer(problem: Problem) -> dict[str, Any]:
    started, busy = time.perf_counter(), time.process_time()
    train = np.arange(problem.n)
    wrong = np.zeros(problem.n, dtype=bool)
    wrong[problem.wrong] = True
    at = {C: Fits(problem, C) for C in CS}
    found = {C: cleanlab_at(fits) for C, fits in at.items()}
    held_out = {C: judge_kept(fits, found[C].kept) for C, fits in at.items()}
    trims = {C: judge_trims(fits) for C, fits in at.items()}
    best = {
        "cleanlab": min(CS, key=lambda C: held_out[C]),
        "trimming": min(CS, key=lambda C: trims[C].min()),
    }
    rivals, finding = {}, {}
    rivals |= without_dropping(problem, at)
    for suffix, chosen in (("", dict.fromkeys(best, DEFAULT_C)), ("_C", best)):
        fits, at_C = at[chosen["cleanlab"]], found[chosen["cleanlab"]]
        rivals[f"cleanlab{suffix}"] = measures(fits, at_C.kept)
        finding[f"cleanlab{suffix}"] = auc_of(-at_C.quality, wrong)
        fits, share = at[chosen["trimming"]], TRIMS[int(trims[chosen["trimming"]].argmin())]
        fits.fit(np.arange(len(problem.y)))
        training_losses = fits.losses(train)
        rivals[f"trimming{suffix}"] = measures(fits, trimmed(training_losses, share), share=share)
        finding[f"loss{suffix}"] = auc_of(training_losses, wrong)
    spent = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - busy}
    return {"rivals": rivals, "finding": finding, **spent}


def without_dropping(problem: Problem, at: dict[float, Fits]) -> dict[str, dict[str, float]]:
    """The plain rivals, as they are and tuned."""
    train = np.arange(problem.n)
    alone = {}
    for C, fits in at.items():
        fits.fit(train)
        alone[C] = float(fits.losses(problem.validation).mean())
    joined = {(C, w): judge_kept(fits, train, w) for C, fits in at.items() for w in WEIGHTS}
    full_C = min(CS, key=lambda C: alone[C])
    C = min(CS, key=lambda C: joined[C, 1.0])
    w = min(WEIGHTS, key=lambda w: joined[DEFAULT_C, w])
    both = min(joined, key=lambda each: joined[each])
    return {
        "full": measures(at[DEFAULT_C], train, 0.0),
        "full_C": measures(at[full_C], train, 0.0),
        "full_plus_validation": measures(at[DEFAULT_C], train),
        "full_plus_validation_C": measures(at[C], train),
        "full_plus_validation_w": measures(at[DEFAULT_C], train, w),
        "full_plus_validation_Cw": measures(at[both[0]], train, both[1]),
    }


def auc_of(score: Array, wrong: Array) -> float | None:
    return float(roc_auc_score(wrong, score)) if wrong.any() else None


def main() -> None:
    # Of a fit of some hundred rows, checking its input anew would be a good part.
    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
    for line in sys.stdin:
        try:
            said = answer(read(line.strip()))
        except ValueError as error:
            said = {"error": str(error)}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
