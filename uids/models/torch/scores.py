"""From parameters to the scores of rows, and from scores to losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from torch.func import jvp

from uids.backends import Array, Matrix
from uids.backends.torch import TorchMatrix
from uids.errors import UidsError

Tensor: TypeAlias = torch.Tensor  # said, since without torch mypy cannot see that it is a type
RowLosses = Callable[[Tensor, Tensor], Tensor]  # (scores (n, k), y (n,)) ↦ (n,)


def cross_entropy(Z: Tensor, y: Tensor) -> Tensor:
    """l_i from scores: one column is the log-odds of class 1, K columns are softmax's."""
    if Z.shape[1] == 1:
        return torch.nn.functional.softplus(Z[:, 0]) - y * Z[:, 0]
    return torch.nn.functional.cross_entropy(Z, y, reduction="none")


class ScoreFunction(Protocol):
    """Z(θ), of shape (n, k), and its derivative in both directions."""

    def data(self, X: Matrix) -> Any: ...  # X as this function wants it
    def value(self, theta: Tensor, data: Any) -> Tensor: ...
    def forward(self, theta: Tensor, data: Any, v: Tensor) -> Tensor: ...  # (dZ/dθ) v, (n, k)
    def backward(self, theta: Tensor, data: Any, U: Tensor) -> Tensor: ...  # (dZ/dθ)ᵀ U, (size,)


@dataclass(frozen=True)
class LinearScores:
    """Z = X Θ (+ intercepts in the last row of Θ): products by hand, since torch.func knows no
    sparse matrix."""

    columns: int
    intercept: bool
    matrix: Callable[[Any], TorchMatrix]

    def data(self, X: Matrix) -> TorchMatrix:
        return self.matrix(X.fetch())

    def value(self, theta: Tensor, data: Any) -> Tensor:
        T = theta.reshape(-1, self.columns)
        return data.mm(T[:-1]) + T[-1] if self.intercept else data.mm(T)

    def forward(self, theta: Tensor, data: Any, v: Tensor) -> Tensor:
        return self.value(v, data)

    def backward(self, theta: Tensor, data: Any, U: Tensor) -> Tensor:
        G = data.tmm(U)
        return (torch.vstack([G, U.sum(dim=0)]) if self.intercept else G).reshape(-1)


def trainable(network: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """The parameters that training moves, by name: those that are frozen are no part of θ."""
    return {name: p for name, p in network.named_parameters() if p.requires_grad}


@dataclass(frozen=True)
class ModuleScores:
    """Z = network(X), θ being all its trainable parameters one after the other."""

    network: torch.nn.Module
    device: str
    dtype: torch.dtype

    def data(self, X: Matrix) -> Tensor:
        if X.sparse:
            raise UidsError("model 'torch_module' takes dense data: use model=torch_logreg")
        return torch.as_tensor(X.fetch(), dtype=self.dtype, device=self.device)

    def value(self, theta: Tensor, data: Tensor) -> Tensor:
        named, first = {}, 0
        for name, parameter in trainable(self.network).items():
            end = first + parameter.numel()
            named[name] = theta[first:end].reshape(parameter.shape)
            first = end
        Z = torch.func.functional_call(self.network, named, (data,))
        return Z.reshape(len(data), -1)  # also of a network that squeezes its one output

    def forward(self, theta: Tensor, data: Tensor, v: Tensor) -> Tensor:
        return jvp(lambda t: self.value(t, data), (theta,), (v,))[1]

    def backward(self, theta: Tensor, data: Tensor, U: Tensor) -> Tensor:
        pull = torch.func.vjp(lambda t: self.value(t, data), theta)[1]
        return pull(U)[0]


def numpy(tensor: Tensor) -> Array:
    return tensor.detach().cpu().numpy().astype(np.float64)
