"""The same problem without the columns that no row has.

A sample of a wide sparse set has few of its columns. Those that neither a training nor a validation
row has keep a parameter of 0 whatever is dropped, and a walk of hundreds of fits has no use for
vectors of their length.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uids.models import AdoptedFitted, AdoptedModel
from uids.scoring.influence import Influence


def without_empty_columns(
    model: AdoptedModel, full: AdoptedFitted, influence: Influence
) -> tuple[AdoptedFitted, Influence]:
    """θ̂ and its curvature over the columns that are there; as they are where that is most of them.
    φ, which is made anew for each fold, is left as it was."""
    train, validation = influence.train, influence.validation
    d = train.X.shape[1]
    if not train.X.sparse or train.X.stored + validation.X.stored >= d:
        return full, influence
    squares = sum(rows.X.square_tdot(np.ones(len(rows))) for rows in (train, validation))
    seen = np.flatnonzero(squares)
    train, validation = (replace(rows, X=rows.X.columns(seen)) for rows in (train, validation))
    full = model.fit(train)
    curvature = full.curvature(train)
    return full, replace(influence, curvature=curvature, train=train, validation=validation)
