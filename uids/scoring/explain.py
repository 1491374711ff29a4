"""Why rows harm: φ_i taken apart by features and by validation rows, and what the row lies among.

By features: φ_i = −Σ_k r_ik x_iᵀ s_k, so that the part of feature j is −x_ij Σ_k r_ik s_jk, and the
parts sum to φ_i with that of the intercepts. Which of them *explain* the row is another matter. A
feature that is large in every row has a large part in every row; and a value that is nonsense often
has a small one, since the model has learnt to mistrust its column. So values that are strange
(``uids/scoring/strange.py``) come first, the strangest before the others; then the features by what
their part is beyond that of a typical value, −(x_ij − typical) Σ_k r_ik s_jk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from uids.backends import Array
from uids.models import Rows
from uids.scoring.neighbours import Neighbourhood
from uids.scoring.neighbours import rows_wanted as wanted_near
from uids.scoring.predicted import dropped_rows
from uids.scoring.reason import FeaturePart, Neighbour, Pair, Parts, Reason
from uids.scoring.row_steps import Index, RowSteps, blocks, loo_of_label, pairs_of, row_positions
from uids.scoring.strange import TRUSTED, Trusted, trusted_values
from uids.scoring.typical import FEW_COLUMNS, Typical, dense, typical_values
from uids.scoring.typical import rows_wanted as wanted_typical
from uids.system.streams import Stream, generator

if TYPE_CHECKING:
    from uids.scoring.influence import Influence

FEATURES, PAIRS, NEIGHBOURS = 5, 5, 3  # named of each row, at most
STRANGE = 3.0  # spreads, beyond which a value is named before others


def explain(
    found: Influence,
    rows: Sequence[int] | Array,
    kept: Array | None = None,
    limit: float | None = None,
) -> list[Reason]:
    """Why each of ``rows`` harms or helps; ``kept`` are the rows among which neighbours are looked
    for, by default those that do not harm. ``limit`` is one to the work, in multiply-adds: beyond
    it only the first rows have ``hurts``, ``helps`` and ``loo_probability``."""
    n = len(found.train)
    index = row_positions(rows, n)
    among = found.phi <= 0 if kept is None else ~dropped_rows(kept, n)
    steps = RowSteps(found.task, limit, found.solution.iterations)
    explainer = Explainer(found, index, among, steps)
    most = steps.most
    width = min(found.task.width(), most)
    return [
        reason
        for place, part in blocks(index, width)
        for reason in explainer.reasons(place, part, place < most)
    ]


@dataclass(frozen=True)
class Explainer:
    """What the explanations of several rows share."""

    found: Influence
    index: Index  # of all rows to be explained
    among: Array  # a mask: there neighbours are looked for
    steps: RowSteps

    def reasons(self, place: int, part: Index, with_pairs: bool) -> list[Reason]:
        """Of some of the rows, which come after ``place`` others."""
        found = self.found
        rows = found.train.take(part)
        steps = self.steps.solved(rows) if with_pairs else None
        loo = self._loo(part, rows, steps)
        hurts, helps = self._pairs(steps, len(part))
        features, parts = self._features(part, rows)
        neighbours = self.neighbours[place : place + len(part)]
        size = len(found.train) * len(found.validation)
        return [
            Reason(
                row=int(i),
                label=self._label(rows.y[r]),
                influence=float(found.phi[i]),
                change=float(-found.phi[i] / size),
                loo_probability=None if loo is None else float(loo[r]),
                features=features[r],
                hurts=hurts[r],
                helps=helps[r],
                neighbours=neighbours[r],
                parts=parts[r],
            )
            for r, i in enumerate(part)
        ]

    def _loo(self, part: Index, rows: Rows, steps: Array | None) -> Array | None:
        """The leave-one-out probability of each label, where it is cheap."""
        found = self.found
        forms = found.curvature.row_forms()
        if forms is None or not forms.linear or not rows.classes:
            return None
        if found.curvature.columns == 1:
            return None if steps is None else loo_of_label(found.curvature, forms, rows, steps)
        limit = found.tuning.check_work if self.steps.limit is None else self.steps.limit
        if found.leverage_plan.work > limit:
            return None
        return found.loo_probability[part, rows.y]

    def _pairs(
        self, steps: Array | None, count: int
    ) -> tuple[list[tuple[Pair, ...]], list[tuple[Pair, ...]]]:
        """The validation rows that each row hurts most, and helps most."""
        if steps is None:
            return [()] * count, [()] * count
        found = self.found
        pairs = pairs_of(found.curvature, found.validation, steps)

        def first(sign: float) -> list[tuple[Pair, ...]]:
            best = largest(sign * pairs, PAIRS)
            return [
                tuple(
                    Pair(int(j), self._label(found.validation.y[j]), float(row[j]))
                    for j in order
                    if sign * row[j] > 0
                )
                for row, order in zip(pairs, best, strict=True)
            ]

        return first(1.0), first(-1.0)

    def _features(
        self, part: Index, rows: Rows
    ) -> tuple[list[tuple[FeaturePart, ...]], list[Parts | None]]:
        """The most telling features of each row, and the parts of all."""
        found = self.found
        slopes = found.curvature.feature_slopes(rows, found.solution.value)
        if slopes is None:
            return [()] * len(part), [None] * len(part)
        typical = self.typical
        X = dense(rows, typical.columns)
        A = slopes[0][:, typical.columns]
        distance = typical.distance(X, rows.strata)
        strange = typical.strangeness(distance)
        if self.trusted is not None:
            strange = self.trusted.strangeness(X, rows.strata, strange)
        beyond = -distance * A * np.sign(found.phi[part])[:, None]
        own = -X * A
        features: list[tuple[FeaturePart, ...]] = []
        parts: list[Parts | None] = []
        for r in range(len(part)):
            order = telling(strange[r], beyond[r])
            columns = typical.columns[order]
            values = X[r, order], typical.median[rows.strata[r], order], own[r, order]
            features.append(
                tuple(
                    self._feature(int(column), float(x), float(usual), float(p))
                    for column, x, usual, p in zip(columns, *values, strict=True)
                )
            )
            there = np.flatnonzero(X[r])
            parts.append(Parts(typical.columns[there], own[r, there], float(-slopes[1][r])))
        return features, parts

    @cached_property
    def neighbours(self) -> list[tuple[Neighbour, ...]]:
        """Of all rows at once: each time, the rows among which they are have to be transposed."""
        train = self.found.train
        sample = self._some(self.among, wanted_near(train))
        near = Neighbourhood(train.take(sample)).nearest(train.take(self.index), NEIGHBOURS)
        return [
            tuple(
                Neighbour(int(sample[place]), self._label(train.y[sample[place]]), float(distance))
                for place, distance in zip(places, distances, strict=True)
            )
            for places, distances in near
        ]

    def _label(self, y: float) -> object:
        """The label of a class, or the number itself where there are no classes."""
        labels = self.found.labels
        if not self.found.train.classes:
            return float(y)
        return int(y) if labels is None else labels[int(y)]

    def _feature(self, column: int, value: float, typical: float, part: float) -> FeaturePart:
        names, units = self.found.features, self.found.units
        name = f"column {column}" if names is None else names[column]
        if units is None:
            return FeaturePart(name, value, typical, part)
        own = units.own_value(column, value), units.own_value(column, typical)
        return FeaturePart(name, value, typical, part, *own)

    @cached_property
    def harmless(self) -> Rows:
        """Some of the other training rows that do not harm."""
        train, others = self.found.train, self.found.phi <= 0
        others[self.index] = False
        return train.take(self._some(others if others.any() else ~others, wanted_typical(train)))

    @cached_property
    def typical(self) -> Typical:
        """Of harmless rows; of many sparse columns, those that the rows have."""
        train, columns = self.found.train, None
        if train.X.sparse and train.X.shape[1] > FEW_COLUMNS:
            columns = np.unique(train.X.rows(self.index).fetch().indices).astype(np.int64)
        return typical_values(self.harmless, columns)

    @cached_property
    def trusted(self) -> Trusted | None:
        validation = self.found.validation
        if len(validation) < TRUSTED:
            return None
        sample = self._some(np.ones(len(validation), bool), wanted_typical(validation))
        return trusted_values(validation.take(sample), self.harmless, self.typical.columns)

    def _some(self, mask: Array, most: int) -> Index:
        """These rows, or as many of them as are wanted, by chance."""
        index = np.flatnonzero(mask)
        if len(index) <= most:
            return index
        rng = generator(self.found.seed, Stream.REASONS)
        return np.sort(rng.choice(index, most, replace=False))


def telling(strange: Array, beyond: Array) -> Index:
    """The columns that explain a row, the most telling first."""
    rank = np.where(strange > STRANGE, strange, 0.0)
    order = np.lexsort((-beyond, -rank))[:FEATURES]
    return order[(rank[order] > 0) | (beyond[order] > 0)]


def largest(values: Array, count: int) -> Index:
    """The positions of the largest of each row, in order, (rows, count)."""
    count = min(count, values.shape[1])
    some = np.argpartition(-values, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(values, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)
