"""Which way to solve H s = g pays for a logistic regression, by the facts of its rows alone."""

from __future__ import annotations

from uids.backends import Matrix
from uids.solvers import Advice
from uids.system.tuning import PRECONDITIONING, Preconditioning


def advice(X: Matrix, columns: int, tuning: Preconditioning = PRECONDITIONING) -> Advice:
    """For a shape for which a way is known to pay; ``columns`` are the scores of a row."""
    n, d = X.shape
    if not X.sparse and columns > 1:
        sampled = samples_classes(X, columns, tuning)
        return Advice(preconditioner="a block for each class, of some rows" if sampled else "")
    if not X.sparse:
        return Advice(preconditioner="the Hessian of some rows" if tall(X, tuning) else "")
    weighted = tuning.wide if columns == 1 else tuning.wide_classes
    wide = d >= (tuning.wide_ones if one_hot(X, tuning) else weighted) * n
    if not long_tailed(X, tuning):
        return Advice(wide)
    head = "a block for the largest columns, else the " if has_head(X, tuning) else "the "
    return Advice(wide, f"{head}mixed diagonal")


def tall(X: Matrix, tuning: Preconditioning) -> bool:
    """Whether the Hessian of some rows of a dense X is a good and cheap preconditioner."""
    n, d = X.shape
    return tuning.sample_fewest <= d <= tuning.sample_most and n >= tuning.sample_tall * d


def samples_classes(X: Matrix, columns: int, tuning: Preconditioning) -> bool:
    """The same for the blocks of several classes."""
    n, d = X.shape
    many = columns > 1 and d * columns > tuning.sample_parameters
    room = columns * d * d <= tuning.sample_most**2
    return not X.sparse and many and room and n >= tuning.sample_tall * d


def long_tailed(X: Matrix, tuning: Preconditioning = PRECONDITIONING) -> bool:
    """Whether X is as sparse as one-hot columns and words are. Those have a long tail, on which the
    mixed diagonal is known to pay, without a trial."""
    n, d = X.shape
    return X.sparse and X.stored <= tuning.long_tail * n * d


def one_hot(X: Matrix, tuning: Preconditioning = PRECONDITIONING) -> bool:
    """Long-tailed, and the stored values all 1: columns that add up, which words with weights do
    not."""
    return long_tailed(X, tuning) and X.all_ones


def has_head(X: Matrix, tuning: Preconditioning) -> bool:
    return one_hot(X, tuning) and X.stored >= tuning.head_entries
