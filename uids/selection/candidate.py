"""One way to make the last model, and how well it did on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from uids.backends import Array
from uids.models import LOGLOSS, Fitted, Rows
from uids.samplers.adopted import AdoptedSampler
from uids.selection.measures import OF_CLASSES, row_values
from uids.system.statistics import standard_error

LEAST = 1e-12  # a probability that is as good as 0


@dataclass(frozen=True)
class Candidate:
    """Which training rows are kept, with which C the model is fitted, and what each validation row
    weighs in it."""

    sampler: AdoptedSampler  # by which rows are kept; of no effect where all are
    ratio: float
    alpha: float | None  # of the sampler, in its own unit; None where it is not chosen
    C: float | None  # None where the model has none, or it is not chosen
    stratify: bool
    weight: float  # 0 where the model is not fitted on the validation rows

    @property
    def drops(self) -> bool:
        return self.ratio < 1

    @property
    def key(self) -> tuple[object, ...]:
        """The same for candidates that are the same: without dropping, no sampler has a say."""
        how = (self.sampler.name, self.ratio, self.alpha, self.stratify) if self.drops else ()
        return (self.C, self.weight, *how)

    def without_dropping(self) -> Candidate:
        return replace(self, ratio=1.0)


@dataclass(frozen=True)
class HeldOut:
    """Rows that judge, under a model that they had no part in."""

    losses: Array  # (rows,)
    probabilities: Array  # (rows, K)
    y: Array

    @classmethod
    def of(cls, fitted: Fitted, rows: Rows) -> HeldOut:
        none = np.empty((len(rows), 0))
        probabilities = fitted.probabilities(rows) if rows.classes else none
        return cls(fitted.losses(rows), probabilities, rows.y)

    @classmethod
    def mean(cls, draws: Sequence[HeldOut]) -> HeldOut:
        """Of the same rows under several draws."""
        if len(draws) == 1:
            return draws[0]
        losses = np.mean([each.losses for each in draws], axis=0)
        return cls(losses, np.mean([each.probabilities for each in draws], axis=0), draws[0].y)

    @classmethod
    def joined(cls, parts: Sequence[HeldOut]) -> HeldOut:
        """One fold after the other."""
        return cls(
            np.concatenate([each.losses for each in parts]),
            np.concatenate([each.probabilities for each in parts]),
            np.concatenate([each.y for each in parts]),
        )

    def values(self, metric: str) -> Array:
        """One number for each row, whose mean is the measure, turned so that less is better: the
        loss, whatever it is called, unless the measure is one of classes."""
        if metric in OF_CLASSES:
            return row_values(self.probabilities, self.y, metric)
        return self.losses


@dataclass(frozen=True)
class Judged:
    """A candidate on held-out rows, by one measure."""

    candidate: Candidate
    held_out: HeldOut
    metric: str = LOGLOSS  # or the name of the model's own loss

    @cached_property
    def values(self) -> Array:
        return self.held_out.values(self.metric)

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def wrong_label(self) -> float:
        """The mean loss of a row whose label is another class: how much the model has to lose where
        it is sure and wrong. 0 for measures in which a row cannot lose more than itself, and where
        the loss does not come from probabilities."""
        if self.metric != LOGLOSS:
            return 0.0
        P, y = self.held_out.probabilities, self.held_out.y
        other = (1 - P[np.arange(len(y)), y]) / max(1, P.shape[1] - 1)
        return float(-np.log(np.maximum(other, LEAST)).mean())

    def by(self, metric: str) -> Judged:
        """The same rows by another measure."""
        return replace(self, metric=metric)

    def against(self, other: Judged) -> Array:
        """Paired differences Δ, one for each row; below 0 where this is better."""
        return self.values - other.values

    def error_against(self, other: Judged) -> float:
        return standard_error(self.against(other)) or 0.0
