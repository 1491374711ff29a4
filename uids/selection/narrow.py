"""The same problem in fewer columns: a walk of hundreds of fits has no use for long vectors.

A sample of a wide set has fewer rows than columns. A linear model that is penalised by ‖θ‖² knows
of its rows only what their products x_iᵀ x_j tell: with Z Zᵀ = X Xᵀ for all rows that a walk looks
at, the fits, losses and φ from Z are those from X, and Z has no more columns than rows. Other
models are at least spared the columns that no row has, whose parameters stay 0 whatever is dropped.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from uids.backends import stack
from uids.backends.numpy import NumpyMatrix
from uids.models import AdoptedFitted, AdoptedModel, Rows
from uids.models.logistic.scored import FittedLinear
from uids.scoring.influence import Influence

# Rows up to which Z is made: it takes the cube of their number.
MOST_ROWS = 1500
# Z is dense: times the numbers that a product with X goes through, which Z may have.
WORTH = 4
# Columns for each row, from which Z is any narrower.
WIDE = 2
# Of an eigenvalue of X Xᵀ, relative to the largest: what is below is rounding.
ROUNDING = 1e-13


def narrow(
    model: AdoptedModel, full: AdoptedFitted, influence: Influence
) -> tuple[AdoptedFitted, Influence]:
    """θ̂ and its curvature in fewer columns; as they are where there is nothing to gain. φ, which
    is made anew for each fold, is left as it was."""
    rows = (influence.train, influence.validation)
    linear = isinstance(full.value, FittedLinear)
    fewer = (rotated(*rows) if linear else None) or without_empty_columns(*rows)
    if fewer is None:
        return full, influence
    train, validation = fewer
    full = model.fit(train)
    curvature = full.curvature(train)
    return full, replace(influence, curvature=curvature, train=train, validation=validation)


def rotated(train: Rows, validation: Rows) -> tuple[Rows, Rows] | None:
    """Both in the coordinates that they span together; None where that would not pay."""
    n, m = len(train), len(validation)
    d = train.X.shape[1]
    stored = train.X.stored + validation.X.stored
    pays = (n + m) ** 2 <= WORTH * (stored + d)
    if n + m > MOST_ROWS or d < WIDE * (n + m) or not pays:
        return None
    squares, Q = eigh(stack(train.X, validation.X).outer(), overwrite_a=True)
    there = squares > ROUNDING * squares[-1]
    Z = np.ascontiguousarray(Q[:, there] * np.sqrt(squares[there]))
    # So few numbers are for BLAS, whatever the backend of X.
    return replace(train, X=NumpyMatrix(Z[:n])), replace(validation, X=NumpyMatrix(Z[n:]))


def without_empty_columns(train: Rows, validation: Rows) -> tuple[Rows, Rows] | None:
    """None where most columns are there."""
    both = (train, validation)
    if not train.X.sparse or sum(rows.X.stored for rows in both) >= train.X.shape[1]:
        return None
    seen = np.flatnonzero(sum(rows.X.square_tdot(np.ones(len(rows))) for rows in both))
    train, validation = (replace(rows, X=rows.X.columns(seen)) for rows in both)
    return train, validation
