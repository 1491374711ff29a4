"""A torch model at its parameters: probabilities and losses of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from uids.backends import Array, writable
from uids.models.rows import Rows
from uids.models.torch.curvature import TorchCurvature
from uids.models.torch.layers import Tensor
from uids.models.torch.points import threads_for
from uids.models.torch.scores import ModuleScores, RowLosses, ScoreFunction, numpy
from uids.system.display import facts, line


@dataclass(frozen=True, repr=False)
class FittedTorch:
    """θ̂ with the functions that it belongs to. ``penalised`` is 0 where there is no penalty.

    ``outputs`` is the number of scores a row has: 1 for two classes (their log-odds), or one for
    each class, which may be two as well.
    """

    theta: Array
    classes: int
    outputs: int
    C: float
    penalised: Array
    scores: ScoreFunction
    row_losses: RowLosses
    device: str
    dtype: torch.dtype
    damping: float = 0.0
    exact: bool = True  # the Hessian itself, not the Gauss–Newton matrix
    last_layer: bool = False  # its curvature is that of the last layer's parameters alone
    made_by: tuple[object, ...] = ()  # what the scores and the loss depend on

    def to(self, array: Array) -> Tensor:
        return torch.as_tensor(writable(array), dtype=self.dtype, device=self.device)

    def labels(self, rows: Rows) -> Tensor:
        """Class numbers, or 0.0 and 1.0 where there is one output."""
        y = torch.as_tensor(writable(rows.y), device=self.device)
        return y.to(self.dtype) if self.outputs == 1 else y

    def evaluate(self, rows: Rows) -> tuple[Any, Tensor]:
        data = self.scores.data(rows.X)
        return data, self.scores.value(self.to(self.theta), data)

    def probabilities(self, rows: Rows) -> Array:
        with torch.no_grad(), threads_for(1.0 * len(rows) * len(self.theta)):
            return numpy(self.probabilities_at(self.evaluate(rows)[1]))

    def probabilities_at(self, Z: Tensor) -> Tensor:
        """From scores."""
        if Z.shape[1] == 1:
            Z = torch.hstack([torch.zeros_like(Z), Z])
        return torch.softmax(Z, dim=1)

    def losses(self, rows: Rows) -> Array:
        with torch.no_grad(), threads_for(1.0 * len(rows) * len(self.theta)):
            return numpy(self.row_losses(self.evaluate(rows)[1], self.labels(rows)))

    def facts(self) -> dict[str, object]:
        """What it is, in a few words each."""
        return {
            "classes": self.classes,
            "outputs": self.outputs,
            "parameters": len(self.theta),
            "C": self.C,
            "damping": self.damping,
        }

    def __repr__(self) -> str:
        return line("FittedTorch", self.facts())

    def _repr_html_(self) -> str:
        return facts("torch model, fitted", self.facts())

    def curvature(self, rows: Rows, weights: Array | None = None) -> TorchCurvature:
        return TorchCurvature(self.of_last_layer() if self.last_layer else self, rows, weights)

    def of_last_layer(self) -> FittedTorch:
        """The same model with the parameters of the last layer as θ and the others as they are."""
        assert isinstance(self.scores, ModuleScores)
        scores, size = self.scores.of_last_layer(self.to(self.theta))
        own = slice(len(self.theta) - size, None)
        return replace(
            self,
            theta=self.theta[own],
            penalised=self.penalised[own],
            scores=scores,
            last_layer=False,
        )
