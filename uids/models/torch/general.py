"""The derivatives of any network, by torch's automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch.func import jacrev, jvp, vmap

from uids.models.torch.layers import Tensor
from uids.models.torch.losses import LossesAt

Value = Callable[[Tensor, Tensor], Tensor]  # (θ, rows) ↦ scores


@dataclass(frozen=True)
class NetworkAt:
    """The scores of some rows near θ; shapes as in ``ChainAt``. ``together`` is how many vectors
    may be pushed through the network at once."""

    value: Value
    theta: Tensor
    data: Tensor
    together: int = 1

    @cached_property
    def Z(self) -> Tensor:
        return self._graph[1].detach()

    def take(self, index: Tensor) -> NetworkAt:
        return NetworkAt(self.value, self.theta, self.data[index], self.together)

    @cached_property
    def _graph(self) -> tuple[Tensor, Tensor]:
        """(θ, Z) as autograd knows them: one pass for all products."""
        with torch.enable_grad():
            theta = self.theta.detach().requires_grad_()
            return theta, self.value(theta, self.data)

    def forward(self, V: Tensor) -> Tensor:
        """(dZ/dθ) V, (n, m, k)."""

        def push(v: Tensor) -> Tensor:
            return jvp(lambda t: self.value(t, self.data), (self.theta,), (v,))[1]

        with torch.no_grad():
            if V.shape[1] > 1 and self.together > 1:
                return vmap(push, in_dims=1, out_dims=1, chunk_size=self.together)(V)
            return torch.stack([push(v) for v in V.T], dim=1)

    def backward(self, U: Tensor) -> Tensor:
        """(dZ/dθ)ᵀ U summed over the rows, (size, m)."""
        theta, Z = self._graph
        return self._pulled(Z, theta, U.transpose(0, 1))

    def _pulled(self, value: Tensor, theta: Tensor, U: Tensor) -> Tensor:
        """valueᵀ U of m U, one after the other or together, (size, m)."""
        if len(U) > 1 and self.together > 1:
            parts = [
                torch.autograd.grad(
                    value,
                    theta,
                    U[first : first + self.together],
                    retain_graph=True,
                    is_grads_batched=True,
                )[0]
                for first in range(0, len(U), self.together)
            ]
            return torch.cat(parts).T
        return torch.stack(
            [torch.autograd.grad(value, theta, u, retain_graph=True)[0] for u in U], dim=1
        )

    def hessian(self, losses: LossesAt, weights: Tensor | None, V: Tensor) -> Tensor:
        """Σ_i ω_i ∇²l_i V, (size, m)."""
        theta, Z = self._graph
        with torch.enable_grad():
            each = losses.losses(Z, losses.y)
            risk = each.sum() if weights is None else (weights * each).sum()
            slope = torch.autograd.grad(risk, theta, create_graph=True)[0]
        return self._pulled(slope, theta, V.T)

    def row_products(self, U: Tensor, S: Tensor) -> Tensor:
        """(U_iᵀ dZ_i/dθ) S for each row i, (n, m), with U (n, k)."""
        if S.shape[1] == 1:
            return (self.forward(S)[:, 0] * U).sum(dim=1, keepdim=True)
        return self.row_gradients(U[:, None, :])[:, 0] @ S

    def row_squares(self, U: Tensor) -> Tensor:
        """The products of the m gradients U_iᵀ dZ_i/dθ of each row, (n, m, m), with U (n, m, k)."""
        G = self.row_gradients(U)
        return G @ G.transpose(1, 2)

    def row_gradients(self, U: Tensor) -> Tensor:
        """U_iᵀ dZ_i/dθ, (n, m, size), with U (n, m, k)."""

        def of_one(theta: Tensor, x: Tensor, u: Tensor) -> Tensor:
            return jacrev(lambda t: u @ self.value(t, x[None])[0])(theta)

        with torch.no_grad():
            return vmap(of_one, in_dims=(None, 0, 0))(self.theta, self.data, U)

    def squares(self, U: Tensor) -> Tensor:
        """The squares of these gradients, summed over all of them, (size,)."""
        G = self.row_gradients(U)
        return (G * G).sum(dim=(0, 1))
