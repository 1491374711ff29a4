"""Some rows at parameters θ: their scores, their losses, and products with the derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch

from uids.models.torch.chain import ChainAt
from uids.models.torch.general import NetworkAt
from uids.models.torch.layers import Tensor
from uids.models.torch.losses import LossesAt
from uids.models.torch.scores import LinearScores, ModuleScores, ScoreFunction
from uids.system.tuning import AUTODIFF


class ScoresAt(Protocol):
    """Z near θ. V and S are (size, m), U is (n, m, k)."""

    @property
    def Z(self) -> Tensor: ...  # (n, k)

    def forward(self, V: Tensor) -> Tensor:
        """(dZ/dθ) V, (n, m, k)."""
        ...

    def backward(self, U: Tensor) -> Tensor:
        """(dZ/dθ)ᵀ U summed over the rows, (size, m)."""
        ...

    def row_products(self, U: Tensor, S: Tensor) -> Tensor:
        """(U_iᵀ dZ_i/dθ) S for each row i, (n, m), with U (n, k)."""
        ...


@dataclass(frozen=True)
class LinearAt:
    """Z = X Θ (+ intercepts in the last row of Θ): by hand, since torch's transforms know no sparse
    matrix."""

    scores: LinearScores
    theta: Tensor
    data: Any

    @cached_property
    def Z(self) -> Tensor:
        return self.scores.value(self.theta, self.data)

    def forward(self, V: Tensor) -> Tensor:
        return torch.stack([self.scores.value(v, self.data) for v in V.T], dim=1)

    def backward(self, U: Tensor) -> Tensor:
        return torch.stack([self._back(u) for u in U.unbind(dim=1)], dim=1)

    def _back(self, U: Tensor) -> Tensor:
        G = self.data.tmm(U)
        both = torch.vstack([G, U.sum(dim=0)]) if self.scores.intercept else G
        return both.reshape(-1)

    def row_products(self, U: Tensor, S: Tensor) -> Tensor:
        return torch.einsum("nmk,nk->nm", self.forward(S), U)


def network_at(scores: ModuleScores, theta: Tensor, data: Tensor, block: int) -> Any:
    """A ``ChainAt`` or a ``NetworkAt``."""
    if scores.layers is not None:
        return ChainAt.of(scores.layers, theta, data)
    return NetworkAt(scores.value, theta, data, block // max(1, len(data) * scores.numbers))


@dataclass(frozen=True)
class Point:
    """Some rows, with their weights ω where they have such."""

    at: Any  # a ScoresAt; of a network a ChainAt or a NetworkAt
    losses: LossesAt
    weights: Tensor | None

    @staticmethod
    def of(
        scores: ScoreFunction, theta: Tensor, data: Any, losses: tuple[Any, Tensor, Tensor | None]
    ) -> Point:
        """``losses`` are (the loss, y, ω)."""
        loss, y, weights = losses
        at: Any
        if isinstance(scores, LinearScores):
            at = LinearAt(scores, theta, data)
        else:
            assert isinstance(scores, ModuleScores)
            at = network_at(scores, theta, data, AUTODIFF.block)
        return Point(at, LossesAt(at.Z, y, loss), weights)

    def __len__(self) -> int:
        return len(self.losses.y)

    def take(self, index: Tensor) -> Point:
        at = self.at.take(index)
        weights = None if self.weights is None else self.weights[index]
        return Point(at, LossesAt(at.Z, self.losses.y[index], self.losses.losses), weights)

    def curved(self, V: Tensor, exact: bool) -> Tensor:
        """Σ_i ω_i ∇²l_i V, (size, m): the Gauss–Newton matrix unless it is to be exact."""
        if exact:
            found: Tensor = self.at.hessian(self.losses, self.weights, V)
            return found
        U = self.losses.bent(self.at.forward(V))
        if self.weights is not None:
            U = U * self.weights[:, None, None]
        pulled: Tensor = self.at.backward(U)
        return pulled

    def risk(self) -> tuple[float, Tensor]:
        """Σ_i ω_i l_i and its gradient."""
        losses, slopes = self.losses.losses(self.losses.Z, self.losses.y), self.losses.slopes
        if self.weights is not None:
            losses, slopes = losses * self.weights, slopes * self.weights[:, None]
        return float(losses.sum()), self.at.backward(slopes[:, None, :])[:, 0]

    @cached_property
    def roots(self) -> Tensor:
        """√ω_i L_i, (n, r, k): the Gauss–Newton matrix is the sum of the outer products of the
        gradients along them."""
        roots = self.losses.roots
        return roots if self.weights is None else roots * torch.sqrt(self.weights)[:, None, None]


def pieces(count: int, height: int) -> list[Tensor]:
    """The positions of so many rows, some at a time."""
    return [torch.arange(i, min(i + height, count)) for i in range(0, count, height)]


@contextmanager
def threads_for(work: float) -> Iterator[None]:
    """One thread for what is done before a second has started: of a small network those would be
    most of the time."""
    before = torch.get_num_threads()
    small = before > 1 and work <= AUTODIFF.one_thread
    if small:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if small:
            torch.set_num_threads(before)
