"""From parameters to the scores of rows, and from scores to losses."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch

from uids.backends import Array, Matrix
from uids.backends.torch import TorchMatrix
from uids.errors import UidsError
from uids.models.torch.layers import (
    Layer,
    Tensor,
    chain_of,
    chain_value,
    last_trainable,
    trainable,
)

RowLosses = Callable[[Tensor, Tensor], Tensor]  # (scores (n, k), y (n,)) ↦ (n,)


def cross_entropy(Z: Tensor, y: Tensor) -> Tensor:
    """l_i from scores: one column is the log-odds of class 1, K columns are softmax's."""
    if Z.shape[1] == 1:
        return torch.nn.functional.softplus(Z[:, 0]) - y * Z[:, 0]
    return torch.nn.functional.cross_entropy(Z, y, reduction="none")


class ScoreFunction(Protocol):
    """Z(θ), of shape (n, k)."""

    def data(self, X: Matrix) -> Any: ...  # X as this function wants it
    def value(self, theta: Tensor, data: Any) -> Tensor: ...


@dataclass(frozen=True)
class LinearScores:
    """Z = X Θ (+ intercepts in the last row of Θ)."""

    columns: int
    intercept: bool
    matrix: Callable[[Any], TorchMatrix]

    def data(self, X: Matrix) -> TorchMatrix:
        return self.matrix(X.fetch())

    def value(self, theta: Tensor, data: Any) -> Tensor:
        T = theta.reshape(-1, self.columns)
        return data.mm(T[:-1]) + T[-1] if self.intercept else data.mm(T)


@dataclass(frozen=True)
class ModuleScores:
    """Z = network(X), θ being all its trainable parameters one after the other."""

    network: torch.nn.Module
    device: str
    dtype: torch.dtype

    @cached_property
    def layers(self) -> tuple[Layer, ...] | None:
        """Where the network is a chain of them."""
        return chain_of(self.network)

    @cached_property
    def numbers(self) -> int:
        """That a pass keeps for each row, about."""
        if self.layers is not None:
            return sum(layer.inputs + 2 * layer.outputs for layer in self.layers)
        # A network of another kind keeps as many as it has parameters, or convolves and keeps more.
        return 4 * sum(parameter.numel() for parameter in self.network.parameters())

    def of_last_layer(self, theta: Tensor) -> tuple[ModuleScores, int]:
        """The scores as a function of the last layer's parameters, the others as in θ, and how many
        they are: the last in θ."""
        network = deepcopy(self.network)
        parameters, last = trainable(network), last_trainable(network)
        torch.nn.utils.vector_to_parameters(theta, parameters.values())
        for name, parameter in parameters.items():
            parameter.requires_grad_(name in last)
        size = sum(parameter.numel() for parameter in last.values())
        return ModuleScores(network, self.device, self.dtype), size

    def data(self, X: Matrix) -> Tensor:
        if X.sparse:
            raise UidsError("model 'torch_module' takes dense data: use model=torch_logreg")
        return torch.as_tensor(X.fetch(), dtype=self.dtype, device=self.device)

    def value(self, theta: Tensor, data: Tensor) -> Tensor:
        if self.layers is not None:
            return chain_value(self.layers, theta, data)
        named, first = {}, 0
        for name, parameter in trainable(self.network).items():
            end = first + parameter.numel()
            named[name] = theta[first:end].reshape(parameter.shape)
            first = end
        Z = torch.func.functional_call(self.network, named, (data,))
        return Z.reshape(len(data), -1)  # also of a network that squeezes its one output


def numpy(tensor: Tensor) -> Array:
    return tensor.detach().cpu().numpy().astype(np.float64)
