"""Four models on equal terms, judged by the test rows alone: with and without the rows that harm,
with and without the validation rows among the training rows.

The plainest use of clean validation rows is to train on them. Whoever drops rows by them has to
beat that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from uids.backends import Array, Matrix
from uids.models import Fitted, Rows
from uids.pipeline.evaluate import evaluate

# From the plainest on: where two cannot be told apart, the earlier one is to be used.
NAMES = ("full", "full_plus_validation", "subset", "subset_plus_validation")
WORDS = {
    "full": "the full training set",
    "full_plus_validation": "the full training set and the validation rows",
    "subset": "the subset",
    "subset_plus_validation": "the subset and the validation rows",
}
LEVEL = 0.05  # of all comparisons together
ROUGH = 1e-6  # tolerance of a fit that is only judged


class Stacked(Matrix):
    """The rows of ``first`` and, below them, of ``second``, each where it lies: no copy of X,
    unless somebody asks for the whole."""

    kernel = None  # of its own: the products that are not below are put together from those

    def __init__(self, first: Matrix, second: Matrix) -> None:
        self.backend = first.backend
        self.source, self.whole, self.index = first.source, None, None  # as sparse as the first
        self.first, self.second = first, second
        self.cut = first.shape[0]
        self.shape = (self.cut + second.shape[0], first.shape[1])

    @cached_property
    def X(self) -> Any:
        both = [self.first.X, self.second.X]
        return sp.vstack(both, format="csr") if sp.issparse(both[0]) else np.vstack(both)

    @property
    def note(self) -> str:
        return self.first.note

    @property
    def without_blas(self) -> bool:
        return self.first.without_blas

    @property
    def threads(self) -> int:
        return self.first.threads

    def blocks(self, height: int | None = None) -> Iterator[tuple[int, Any]]:
        yield from self.first.blocks(height)
        for start, block in self.second.blocks(height):
            yield self.cut + start, block

    def rows(self, index: Array) -> Matrix:
        index = np.asarray(index)
        index = np.flatnonzero(index) if index.dtype == bool else index % self.shape[0]
        above = index < self.cut
        if (above[1:] <= above[:-1]).all():  # none of the second comes before one of the first
            return Stacked(
                self.first.rows(index[above]), self.second.rows(index[~above] - self.cut)
            )
        return Matrix(self.backend, self.X[index])

    def dot(self, V: Array) -> Array:
        return np.concatenate([self.first.dot(V), self.second.dot(V)])

    def tdot(self, U: Array) -> Array:
        return self.first.tdot(U[: self.cut]) + self.second.tdot(U[self.cut :])

    def gram_dot(self, w: Array, V: Array) -> Array:
        return self.first.gram_dot(w[: self.cut], V) + self.second.gram_dot(w[self.cut :], V)

    def square_tdot(self, W: Array) -> Array:
        return self.first.square_tdot(W[: self.cut]) + self.second.square_tdot(W[self.cut :])

    def gram(self, w: Array) -> Array:
        return self.first.gram(w[: self.cut]) + self.second.gram(w[self.cut :])


def stacked(first: Rows, second: Rows) -> Rows:
    y = np.concatenate([first.y, second.y])
    one, two = first.X, second.X
    if one.whole is not None and one.whole is two.whole:  # two views of one matrix are a view
        return Rows(one.whole.rows(np.concatenate([one.index, two.index])), y, first.classes)
    return Rows(Stacked(one, two), y, first.classes)


def fit_with(
    model: Any,
    rows: Rows,
    validation: Rows,
    weights: Array | None,
    start: Fitted,
    exact: bool = False,
) -> Fitted:
    """The model of ``rows`` and the validation rows, each of which stands for itself alone.

    Unless it has to be exact it is fitted to ROUGH only: all that is asked of it are measures on
    test rows, and the error of the loss is of second order in that of the gradient.
    """
    if not exact and getattr(model, "tol", ROUGH) < ROUGH:
        model = dataclasses.replace(model, tol=ROUGH)
    if weights is not None:
        weights = np.concatenate([weights, np.ones(len(validation))])
    fitted: Fitted = model.fit(stacked(rows, validation), weights, start=start)
    return fitted


class Baselines:
    """Collects the four models' losses on each test row and their measures, over repeats."""

    def __init__(self, test: Rows) -> None:
        self.test = test
        self.losses: dict[str, list[Array]] = {name: [] for name in NAMES}
        self.measures: dict[str, list[dict[str, Any]]] = {name: [] for name in NAMES}

    def add(self, name: str, fitted: Fitted) -> None:
        self.losses[name].append(fitted.losses(self.test))
        found = evaluate(fitted, self.test, deltas=())
        self.measures[name].append({key: found[key] for key in ("logloss", "accuracy", "auc")})

    def metrics(self) -> dict[str, Any]:
        losses = {name: np.mean(self.losses[name], axis=0) for name in NAMES}
        return {
            "baselines": {name: {"test": mean_of(self.measures[name])} for name in NAMES},
            "verdict": verdict(losses),
        }


def mean_of(measures: Sequence[dict[str, Any]]) -> dict[str, Any]:
    def mean(values: list[Any]) -> float | None:
        return None if None in values else float(np.mean(values))

    return {key: mean([each[key] for each in measures]) for key in measures[0]}


def verdict(losses: dict[str, Array]) -> dict[str, Any]:
    """Which of the four to use, and how sure that is: paired t intervals over the test rows of the
    difference to the one with the lowest logloss, 95 % for the three of them together.

    ``use`` is the plainest that cannot be told from the lowest; ``against`` is what it is compared
    with: the best of those plainer, or for the plainest the best of the others.
    """
    mean = {name: float(losses[name].mean()) for name in NAMES}
    best = min(NAMES, key=lambda name: mean[name])
    tied = [name for name in NAMES if interval(losses[name] - losses[best])[0] <= 0]
    use = tied[0]
    plainer = NAMES[: NAMES.index(use)]
    others = plainer or tuple(name for name in NAMES if name != use)
    against = min(others, key=lambda name: mean[name])
    low, high = interval(losses[use] - losses[against])
    found = {
        "use": use,
        "lowest": best,
        "against": against,
        "difference": mean[use] - mean[against],
        "interval": [low, high],
        "sure": bool(high < 0),
    }
    return {**found, "sentence": sentence(found, mean)}


def interval(differences: Array) -> tuple[float, float]:
    from scipy.stats import t

    m = len(differences)
    if m < 2:
        return -np.inf, np.inf
    half = t.ppf(1 - LEVEL / 2 / 3, m - 1) * float(differences.std(ddof=1)) / np.sqrt(m)
    centre = float(differences.mean())
    return centre - half, centre + half


def sentence(found: dict[str, Any], mean: dict[str, float]) -> str:
    use, against, (low, high) = found["use"], found["against"], found["interval"]
    has = f"Use {WORDS[use]}: a test logloss of {mean[use]:.4f}"
    between = f"95 % interval {low:+.4f} to {high:+.4f}, paired over the test rows"
    lowest = found["lowest"]
    near = "" if use == lowest else f", which cannot be told from the lowest ({WORDS[lowest]})"
    if use == NAMES[0]:
        difference = f"{found['difference']:+.4f} against {WORDS[against]}"
        return f"{has}{near}; {difference} ({between})."
    return f"{has}{near}, {-found['difference']:.4f} below {WORDS[against]} ({between})."
