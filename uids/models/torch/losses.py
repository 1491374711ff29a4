"""The losses of some rows as functions of their scores: slopes, and how they bend."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from uids.models.torch.layers import Tensor
from uids.models.torch.scores import RowLosses, cross_entropy


@dataclass(frozen=True)
class LossesAt:
    """l_i at scores Z_i, (n, k). Rows do not know of each other."""

    Z: Tensor
    y: Tensor
    losses: RowLosses

    @cached_property
    def _plain(self) -> bool:
        """Cross-entropy, whose derivatives are known."""
        return self.losses is cross_entropy

    @cached_property
    def _probabilities(self) -> Tensor:
        return torch.sigmoid(self.Z) if self.Z.shape[1] == 1 else torch.softmax(self.Z, dim=1)

    @cached_property
    def slopes(self) -> Tensor:
        """r_i = ∂l_i/∂Z_i, (n, k)."""
        if self._plain:
            if self.Z.shape[1] == 1:
                return self._probabilities - self.y[:, None]
            slopes = self._probabilities.clone()
            slopes[torch.arange(len(self.y)), self.y] -= 1
            return slopes
        with torch.enable_grad():
            Z = self.Z.detach().requires_grad_()
            return torch.autograd.grad(self.losses(Z, self.y).sum(), Z)[0]

    def bent(self, U: Tensor) -> Tensor:
        """W_i U_i with W_i = ∂²l_i/∂Z_i², for U (n, m, k)."""
        if not self._plain:
            return torch.einsum("nmk,nkj->nmj", U, self.bends)
        P = self._probabilities[:, None, :]
        if self.Z.shape[1] == 1:
            return P * (1 - P) * U
        curved = P * U
        return curved - P * curved.sum(dim=2, keepdim=True)

    @cached_property
    def bends(self) -> Tensor:
        """W_i, (n, k, k)."""
        k = self.Z.shape[1]
        if self._plain:
            P = self._probabilities
            if k == 1:
                return (P * (1 - P))[:, :, None]
            return torch.diag_embed(P) - P[:, :, None] * P[:, None, :]
        with torch.enable_grad():
            Z = self.Z.detach().requires_grad_()
            slopes = torch.autograd.grad(self.losses(Z, self.y).sum(), Z, create_graph=True)[0]
            if not slopes.requires_grad:  # a loss that is linear in the scores
                return Z.new_zeros((len(Z), k, k))
            columns = [
                torch.autograd.grad(slopes[:, j].sum(), Z, retain_graph=True)[0] for j in range(k)
            ]
        return torch.stack(columns, dim=1)

    @cached_property
    def convex(self) -> bool:
        """Whether no loss bends downwards."""
        values = torch.linalg.eigvalsh(self.bends)
        return self._plain or bool(values.min() >= -1e-12 * values.abs().max())

    @cached_property
    def roots(self) -> Tensor:
        """L_i with W_i = L_iᵀ L_i, (n, r, k); r is k − 1 for softmax, which does not change when
        all scores of a row move together.

        Softmax's W = D (I − q qᵀ) D with D = diag(√p) and q = √p: the Householder reflection that
        takes q to an axis has, in its other columns, a basis of what is orthogonal to q.
        """
        k = self.Z.shape[1]
        if self._plain and k > 1:
            q = torch.sqrt(self._probabilities)
            v = q.clone()
            v[:, 0] += 1
            Q = torch.eye(k, dtype=q.dtype, device=q.device)[1:]
            Q = Q - v[:, 1:, None] * v[:, None, :] / v[:, :1, None]
            return Q * q[:, None, :]
        if k == 1:
            return torch.sqrt(self.bends.clamp(min=0))
        values, vectors = torch.linalg.eigh(self.bends)
        return torch.sqrt(values.clamp(min=0))[:, :, None] * vectors.transpose(1, 2)
