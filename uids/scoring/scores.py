"""What a sampler may look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from uids.backends import Array, read_only
from uids.errors import UidsError
from uids.models import Fitted
from uids.scoring.labels import LabelAudit, audit_labels

if TYPE_CHECKING:
    from uids.scoring.influence import Influence


@dataclass(frozen=True)
class Scores:
    """One number for each training row.

    ``phi`` φ_i > 0 means that row i harms. ``loss`` l_i(θ̂). ``y`` the class, 0..K−1, or the number
    to predict where the model is of numbers. Computed when
    first asked for: ``psi_norm`` ‖H⁻¹ ∇l_i‖, ``gradient_norm`` ‖∇l_i‖, ``reference_loss`` the loss
    under the best model that no row was dropped from, and by it ``label_error``, the probability
    that the label is wrong. No array can be changed in place: others use it too.
    """

    phi: Array
    loss: Array
    y: Array
    influence: Influence
    full: Fitted | None = None  # θ̂
    reference: Fitted | None = None  # of the training and validation rows; None: θ̂ does

    def __post_init__(self) -> None:
        for name in ("phi", "loss", "y"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def gradient_norm(self) -> Array:
        return read_only(self.influence.gradient_norm)

    @property
    def psi_norm(self) -> Array:
        return read_only(self.influence.psi_norm)

    @property
    def reference_loss(self) -> Array:
        return self.loss if self.reference is None else self.reference.losses(self.influence.train)

    @property
    def label_error(self) -> Array:
        return read_only(self.labels.error)

    @cached_property
    def labels(self) -> LabelAudit:
        if not self.influence.train.classes:
            raise UidsError("the label audit is for classes, and y are numbers")
        model = self.reference or self.full
        if model is None:
            raise UidsError("the label audit needs a fitted model, and these scores have none")
        return audit_labels(model.probabilities(self.influence.train), self.y)
