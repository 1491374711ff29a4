"""Models: fitting, losses and probabilities of rows, and the *curvature* at the fitted parameters.

A model is a component with ``fit(rows, weights=None, start=None)``; one file for each here, their
machinery in ``logistic`` and ``torch``. Knows nothing of samplers, validation or files.
"""

from uids.models.adopted import AdoptedFitted, AdoptedModel
from uids.models.linear_loss import LinearLoss
from uids.models.model import LOGLOSS, Curvature, Fitted, Model, Objective, RowForms
from uids.models.rows import Rows, stacked

__all__ = [
    "LOGLOSS",
    "AdoptedFitted",
    "AdoptedModel",
    "Curvature",
    "Fitted",
    "LinearLoss",
    "Model",
    "Objective",
    "RowForms",
    "Rows",
    "stacked",
]
