"""Inverses of the Gauss–Newton matrix of a chain of layers, exact or nearly, for conjugate
gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import torch

from uids.backends import Array
from uids.models.torch.layers import Layer, Tensor
from uids.models.torch.points import Point, threads_for
from uids.models.torch.scores import ModuleScores, numpy
from uids.solvers import Precondition
from uids.system.tuning import SOLVER_CHOICE

if TYPE_CHECKING:
    from uids.models.torch.curvature import TorchCurvature

Make: TypeAlias = "Callable[[TorchCurvature], Precondition]"


def way_of(curvature: TorchCurvature) -> tuple[str, Make | None]:
    """The preconditioner that pays: in words, and how it is made. None for what is factorised, and
    for networks of other kinds."""
    scores = curvature.fitted.scores
    small = curvature.size <= SOLVER_CHOICE.direct_size
    dense = small and curvature.dense_cost <= SOLVER_CHOICE.direct_products
    if dense or not isinstance(scores, ModuleScores) or scores.layers is None:
        return "", None
    count = curvature.rows * max(1, curvature.columns - 1)
    if count <= min(curvature.tuning.in_rows, curvature.size) and curvature.whole:
        return f"its Gauss–Newton matrix by the {count:,} gradients of its rows", in_rows
    return "its Gauss–Newton matrix by Kronecker factors of each layer", factored


def in_rows(curvature: TorchCurvature) -> Precondition:
    """H = μI + GᵀG/n with the gradients along the roots of W_i in the rows of G, by Woodbury:

        H⁻¹ r = (r − Gᵀ (nμI + G Gᵀ)⁻¹ G r) / μ.

    G Gᵀ comes from the layers, and G is never made.
    """
    (point,) = curvature.over_points()
    roots, ridge = point.roots, 1 / curvature.scale
    n, m = roots.shape[:2]
    with threads_for(float(n * m) ** 3 / 3):
        K = point.at.gram(roots)
        K.diagonal().add_(curvature.rows * ridge)
        L = torch.linalg.cholesky(K)

    def apply(r: Array) -> Array:
        V = curvature.fitted.to(r.reshape(curvature.size, -1))
        with torch.no_grad(), threads_for(curvature.product_work * V.shape[1]):
            pushed = point.at.forward(V) @ roots.transpose(1, 2)  # (n, columns, m)
            flat = pushed.transpose(1, 2).reshape(n * m, -1)
            solved = torch.cholesky_solve(flat, L).view(n, m, -1).transpose(1, 2)
            return numpy((V - point.at.backward(solved @ roots)) / ridge).reshape(r.shape)

    return apply


@dataclass(frozen=True)
class Factors:
    """Of one layer: (Σ_i (δ_i δ_iᵀ) ⊗ (h_i h_iᵀ)) / n + μ ≈ (U ⊗ V) diag(Λ + μ) (U ⊗ V)ᵀ, where U
    and V are the eigenvectors of Σ δ_i δ_iᵀ and Σ h_i h_iᵀ, h_i with a 1 for the bias, and Λ are
    the mean squares along them (George et al. 2018, "eigenvalue-corrected")."""

    layer: Layer
    left: Tensor  # U, (outputs, outputs)
    right: Tensor  # V, (inputs + 1, inputs + 1)
    divisor: Tensor  # Λ + μ

    def apply(self, V: Tensor, total: Tensor) -> None:
        """V is (size, m)."""
        m, layer = V.shape[1], self.layer
        parts = []
        if isinstance(layer.weight, slice):
            parts.append(V[layer.weight].view(layer.outputs, layer.inputs, m))
        if isinstance(layer.bias, slice):
            parts.append(V[layer.bias].view(layer.outputs, 1, m))
        both = torch.cat(parts, dim=1).permute(2, 0, 1)  # (m, outputs, inputs + 1)
        both = self.left @ ((self.left.T @ both @ self.right) / self.divisor) @ self.right.T
        if isinstance(layer.weight, slice):
            total[layer.weight] = both[:, :, : layer.inputs].reshape(m, -1).T
        if isinstance(layer.bias, slice):
            total[layer.bias] = both[:, :, -1].T


def factored(curvature: TorchCurvature) -> Precondition:
    """A block for each layer, from some of the rows."""
    point = sampled(curvature)
    ridge = 1 / curvature.scale
    with threads_for(curvature.product_work):
        factors = [
            layer_factors(layer, inputs, delta, ridge)
            for layer, inputs, delta in point.at.parts(point.roots)
            if layer.moves
        ]

    def apply(r: Array) -> Array:
        V = curvature.fitted.to(r.reshape(curvature.size, -1))
        total = torch.empty_like(V)
        with torch.no_grad(), threads_for(curvature.size * 1000.0):
            for each in factors:
                each.apply(V, total)
        return numpy(total).reshape(r.shape)

    return apply


def sampled(curvature: TorchCurvature) -> Point:
    """One part of so many of the rows, evenly over all of them."""
    point = next(curvature.over_points())
    step = max(1, len(point) // curvature.tuning.factor_rows)
    return point if step == 1 else point.take(torch.arange(0, len(point), step))


def layer_factors(layer: Layer, inputs: Tensor, delta: Tensor, ridge: float) -> Factors:
    n = len(inputs)
    parts = [inputs] if isinstance(layer.weight, slice) else []
    if isinstance(layer.bias, slice):
        parts.append(inputs.new_ones((n, 1)))
    H = torch.cat(parts, dim=1)
    flat = delta.reshape(-1, layer.outputs)
    left, right = (torch.linalg.eigh(A.T @ A)[1] for A in (flat, H))
    squares = ((delta @ left) ** 2).sum(dim=1)  # (n, outputs)
    return Factors(layer, left, right, squares.T @ ((H @ right) ** 2) / n + ridge)
