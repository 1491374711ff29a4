"""Training and validation rows of another kind: whether a model tells them apart, and losses of
each under a model of its own kind.

Validation rows from another place, time or class of customers are harder for the model of the
training rows, whatever their labels are worth: 20 % of wrong training labels were then never found
(covtype, training rows from one half of the file, 20 draws). Under a model of as many rows of its
own kind each part shows how well *its* labels follow from its features, and they were in all 20;
never with the validation labels as wrong, nor with none. One kind may still be the harder one by
nature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from uids.backends import Array
from uids.models import AdoptedModel, Rows, stacked
from uids.models.logreg import LogisticRegression
from uids.models.model import GLANCE
from uids.scoring.influence import Influence
from uids.system.statistics import p_larger

SURE = 1e-3  # how seldom rows of one kind are told apart
FEWEST = 20  # rows of each, below which nothing is told apart


def of_another_kind(influence: Influence) -> bool:
    """Whether a logistic regression on every second row of both tells the others apart."""
    parts = [some(rows, influence) for rows in (influence.train, influence.validation)]
    if min(len(rows) for rows in parts) < FEWEST:
        return False
    (train, other_train), (validation, other_validation) = (
        (rows.take(np.arange(0, len(rows), 2)), rows.take(np.arange(1, len(rows), 2)))
        for rows in parts
    )
    both = stacked(train, validation)
    origin = np.repeat([0, 1], [len(train), len(validation)])
    teller = LogisticRegression(C=1.0, tol=GLANCE).fit(Rows(both.X, origin, 2))
    here, there = (teller.probabilities(rows)[:, 1] for rows in (other_validation, other_train))
    return p_larger(here, there) < SURE


def some(rows: Rows, influence: Influence) -> Rows:
    """As many as are enough, evenly spread."""
    most = influence.tuning.check_rows
    return rows if len(rows) <= most else rows.take(spread(len(rows), most))


def spread(n: int, count: int) -> Array:
    return np.linspace(0, n - 1, count).astype(np.int64)


def own_losses(
    model: AdoptedModel, influence: Influence, left_out: Callable[[Influence], Array]
) -> tuple[Array, Array]:
    """Of the training and of the validation rows, each under a model of its own kind that has not
    seen the row; both models are of as many rows. ``left_out`` gives the leave-one-out losses of
    the training rows of an influence."""
    train, validation = (some(rows, influence) for rows in (influence.train, influence.validation))
    count = min(len(train), len(validation))

    def losses(rows: Rows) -> Array:
        index = spread(len(rows), count)
        own = rows.take(index)
        fitted = model.rough().fit(own)
        found = np.empty(len(rows))
        found[index] = left_out(replace(influence, curvature=fitted.curvature(own), train=own))
        rest = np.setdiff1d(np.arange(len(rows)), index)
        if len(rest):
            found[rest] = fitted.losses(rows.take(rest))
        return found

    return losses(train), losses(validation)
