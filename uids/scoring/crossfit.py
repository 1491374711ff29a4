"""Influence without some of the validation rows, so that those can judge what it led to.

The validation rows are shared out to K folds. φ^(k) comes from all folds but the k-th:

    s_k = H⁻¹ g_k,   g_k = Σ_{j not in fold k} ∇l_j(θ̂),   φ^(k)_i = −s_kᵀ ∇l_i(θ̂),

with one θ̂ and one H, whence the K systems are the columns of one solve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from uids.backends import Array
from uids.models import Fitted, Rows
from uids.scoring.influence import Influence
from uids.scoring.scores import Scores
from uids.system.streams import Stream, generator

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Fold:
    """``scores`` have seen every validation row but those of ``held``, at ``index`` of them:
    ``others``."""

    scores: Scores
    held: Rows
    others: Rows
    index: Indices


@dataclass(frozen=True)
class FoldInfluence(Influence):
    """What does not depend on the validation rows is computed once for all folds."""

    whole: Influence | None = None

    @cached_property
    def gradient_norm(self) -> Array:
        assert self.whole is not None
        return self.whole.gradient_norm

    @cached_property
    def psi_norm(self) -> Array:
        assert self.whole is not None
        return self.whole.psi_norm


def fold_numbers(y: npt.NDArray[np.int64], folds: int, seed: int) -> Indices:
    """Which fold each row is in: the classes evenly in each, by chance within a class."""
    rng = generator(seed, Stream.FOLDS)
    order = np.concatenate([rng.permutation(np.flatnonzero(y == k)) for k in np.unique(y)])
    number = np.empty(len(y), dtype=np.int64)
    number[order] = np.arange(len(y)) % folds
    return number


def crossfit(
    full: Fitted, scored: Influence, folds: int, seed: int, judging: int | None = None
) -> list[Fold]:
    """K folds of the validation rows, each with the scores of the training rows from the others; or
    the first ``judging`` of them."""
    curvature, train, validation = scored.curvature, scored.train, scored.validation
    number = fold_numbers(validation.strata, folds, seed)
    places = [np.flatnonzero(number == k) for k in range(folds)]
    judging = folds if judging is None else judging
    # Of each fold that judges, and of all that do not. Summed over the others, not the whole less
    # the fold: no digit of the fold may remain.
    rest = np.concatenate([np.empty(0, dtype=np.int64), *places[judging:]])
    groups = [*places[:judging], *([np.sort(rest)] if len(rest) else [])]
    gradients = np.stack([curvature.gradient(validation.take(group)) for group in groups], axis=1)
    others = [np.delete(gradients, k, axis=1).sum(axis=1) for k in range(judging)]
    solution = scored.solver.solve(curvature, np.stack(others, axis=1))
    phi = -curvature.row_products(train, solution.value)
    loss = full.losses(train)
    scored_folds = []
    for k, place in enumerate(places[:judging]):
        seen = validation.take(np.flatnonzero(number != k))
        influence = FoldInfluence(
            curvature,
            train,
            seen,
            scored.solver,
            replace(solution, value=np.ascontiguousarray(solution.value[:, k])),
            np.ascontiguousarray(phi[:, k]),
            scored.probes,
            scored.seed,
            scored.tuning,
            whole=scored,
        )
        scores = Scores(influence.phi, loss, train.y, influence, full)
        scored_folds.append(Fold(scores, validation.take(place), seen, place))
    return scored_folds
