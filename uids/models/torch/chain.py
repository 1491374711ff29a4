"""The derivatives of a chain of layers, by hand: what a pass leaves in each layer does for all
products after it.

With A_l = H_{l−1} W_lᵀ + b_l and H_l = σ_l(A_l), the gradient of a row with respect to W_l is the
outer product of δ_l, which comes from behind, and the input h_{l−1}. So products with the gradients
of all rows are matrix products in each layer, and none of these gradients is made for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch

from uids.models.torch.layers import Layer, Tensor
from uids.models.torch.losses import LossesAt


def slope_of(curve: Callable[[Tensor], Tensor], A: Tensor, order: int = 1) -> Tensor:
    """σ'(A) or σ''(A) of a function of single numbers."""
    with torch.enable_grad():
        A = A.detach().requires_grad_()
        value = curve(A)
        for left in range(order, 0, -1):
            slope = None
            if value.requires_grad:
                sums = value.sum()
                slope = torch.autograd.grad(sums, A, create_graph=left > 1, allow_unused=True)[0]
            value = torch.zeros_like(A) if slope is None else slope  # a ReLU's slope has none
    return value.detach()


def slope_after(layer: Layer, A: Tensor, H: Tensor) -> Tensor:
    """σ'(A) where H = σ(A): known of the most common one, in a fraction of the time."""
    if len(layer.bend) == 1 and type(layer.bend[0]) is torch.nn.Tanh:
        return 1 - H * H
    return slope_of(layer.curve, A)


@dataclass(frozen=True)
class ChainAt:
    """The scores of some rows near θ. ``inputs`` H_{l−1}, ``before`` A_l and ``slopes`` σ_l'(A_l)
    of each layer; the last two None where there is no σ. Columns V are (size, m), and what rows
    have for each of them is (n, m, …)."""

    layers: tuple[Layer, ...]
    theta: Tensor
    inputs: tuple[Tensor, ...]
    before: tuple[Tensor | None, ...]
    slopes: tuple[Tensor | None, ...]
    Z: Tensor

    @staticmethod
    def of(layers: tuple[Layer, ...], theta: Tensor, H: Tensor) -> ChainAt:
        inputs, before, slopes = [], [], []
        for layer in layers:
            inputs.append(H)
            A = torch.nn.functional.linear(H, layer.matrix(theta), layer.shift(theta))
            before.append(A if layer.bend else None)
            H = layer.curve(A)
            slopes.append(slope_after(layer, A, H) if layer.bend else None)
        return ChainAt(layers, theta, tuple(inputs), tuple(before), tuple(slopes), H)

    def take(self, index: Tensor) -> ChainAt:
        def part(values: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
            return tuple(None if value is None else value[index] for value in values)

        inputs = tuple(value[index] for value in self.inputs)
        slopes = part(self.slopes)
        return ChainAt(self.layers, self.theta, inputs, part(self.before), slopes, self.Z[index])

    @cached_property
    def first(self) -> int:
        """The first layer that has a part in θ: before it nothing moves."""
        return next(place for place, layer in enumerate(self.layers) if layer.moves)

    def _pushed(self, place: int, V: Tensor) -> Tensor | None:
        """H dW_lᵀ + db_l, (n, m, outputs), for the part of V that is the layer's."""
        layer, m = self.layers[place], V.shape[1]
        moved = None
        if isinstance(layer.weight, slice):
            W = V[layer.weight].view(layer.outputs, layer.inputs, m).permute(2, 0, 1)
            flat = W.reshape(m * layer.outputs, layer.inputs)
            moved = (self.inputs[place] @ flat.T).view(-1, m, layer.outputs)
        if isinstance(layer.bias, slice):
            shift = V[layer.bias].T
            moved = shift.expand(len(self.Z), -1, -1) if moved is None else moved.add_(shift)
        return moved

    def _tangents(self, V: Tensor) -> list[Tensor]:
        """dA_l from the first layer that moves on."""
        tangents: list[Tensor] = []
        for place in range(self.first, len(self.layers)):
            moved = self._pushed(place, V)
            if tangents:
                through = self._curved(place - 1, tangents[-1]) @ self._matrix(place).T
                moved = through if moved is None else through.add_(moved)
            assert moved is not None
            tangents.append(moved)
        return tangents

    def _matrix(self, place: int) -> Tensor:
        return self.layers[place].matrix(self.theta)

    def _curved(self, place: int, T: Tensor) -> Tensor:
        slope = self.slopes[place]
        return T if slope is None else T * slope[:, None, :]

    def forward(self, V: Tensor) -> Tensor:
        """(dZ/dθ) V, (n, m, k)."""
        return self._curved(len(self.layers) - 1, self._tangents(V)[-1])

    def deltas(self, U: Tensor) -> list[Tensor]:
        """Of each layer from the first that moves on, Uᵀ dZ/dA_l, (n, m, outputs)."""
        found = [self._curved(len(self.layers) - 1, U)]
        for place in range(len(self.layers) - 1, self.first, -1):
            found.append(self._curved(place - 1, found[-1] @ self._matrix(place)))
        return found[::-1]

    def backward(self, U: Tensor) -> Tensor:
        """(dZ/dθ)ᵀ U summed over the rows, (size, m)."""
        total = self._empty(U.shape[1])
        for place, delta in enumerate(self.deltas(U), self.first):
            self._pull(total, place, delta, self.inputs[place])
        return total.T

    def _empty(self, m: int) -> Tensor:
        return self.Z.new_zeros((m, len(self.theta)))

    def _pull(self, total: Tensor, place: int, delta: Tensor, inputs: Tensor) -> None:
        """Adds Σ_i δ_i h_iᵀ and Σ_i δ_i to the layer's part of ``total``, (m, size)."""
        layer, m = self.layers[place], delta.shape[1]
        if isinstance(layer.weight, slice):
            flat = delta.reshape(len(delta), -1)
            total[:, layer.weight] += (flat.T @ inputs).view(m, -1)
        if isinstance(layer.bias, slice):
            total[:, layer.bias] += delta.sum(dim=0)

    def hessian(self, losses: LossesAt, weights: Tensor | None, V: Tensor) -> Tensor:
        """Σ_i ω_i ∇²l_i V, (size, m): the derivative of the pass back along V."""
        slopes = losses.slopes if weights is None else losses.slopes * weights[:, None]
        deltas = self.deltas(slopes[:, None, :])
        tangents = self._tangents(V)
        last = len(self.layers) - 1
        bent = losses.bent(self._curved(last, tangents[-1]))
        bent = bent if weights is None else bent * weights[:, None, None]
        own = self._bent(last, tangents[-1], slopes[:, None, :])
        moved = self._curved(last, bent) if own is None else self._curved(last, bent) + own
        total = self._empty(V.shape[1])
        for place in range(last, self.first - 1, -1):
            self._pull(total, place, moved, self.inputs[place])
            if place == self.first:
                break
            delta, W = deltas[place - self.first], self._matrix(place)
            self._cross(
                total, place, delta, self._curved(place - 1, tangents[place - 1 - self.first])
            )
            back = moved @ W
            through = self._back(place, delta, V)
            back = back if through is None else back + through
            own = self._bent(place - 1, tangents[place - 1 - self.first], delta @ W)
            moved = self._curved(place - 1, back)
            moved = moved if own is None else moved + own
        return total.T

    def _bent(self, place: int, tangent: Tensor, behind: Tensor) -> Tensor | None:
        """σ''(A) dA δ, where there is a σ."""
        A = self.before[place]
        if A is None:
            return None
        return self._second[place][:, None, :] * tangent * behind

    @cached_property
    def _second(self) -> list[Tensor]:
        empty = self.Z.new_zeros(0)
        return [
            empty if A is None else slope_of(layer.curve, A, 2)
            for layer, A in zip(self.layers, self.before, strict=True)
        ]

    def _cross(self, total: Tensor, place: int, delta: Tensor, tangent: Tensor) -> None:
        """Σ_i δ_i dh_iᵀ."""
        layer = self.layers[place]
        if isinstance(layer.weight, slice):
            part = torch.einsum("no,nmi->moi", delta[:, 0], tangent)
            total[:, layer.weight] += part.reshape(tangent.shape[1], -1)

    def _back(self, place: int, delta: Tensor, V: Tensor) -> Tensor | None:
        """δ dW_l, (n, m, inputs)."""
        layer, m = self.layers[place], V.shape[1]
        if not isinstance(layer.weight, slice):
            return None
        W = V[layer.weight].view(layer.outputs, layer.inputs, m).permute(0, 2, 1)
        flat = W.reshape(layer.outputs, m * layer.inputs)
        return (delta[:, 0] @ flat).view(-1, m, layer.inputs)

    def parts(self, U: Tensor) -> list[tuple[Layer, Tensor, Tensor]]:
        """(layer, its input, δ) of each from the first that moves on."""
        places = range(self.first, len(self.layers))
        return [
            (self.layers[place], self.inputs[place], delta)
            for place, delta in zip(places, self.deltas(U), strict=True)
        ]

    def row_products(self, U: Tensor, S: Tensor) -> Tensor:
        """(U_iᵀ dZ_i/dθ) S for each row i, (n, m), with U (n, k)."""
        total = self.Z.new_zeros((len(U), S.shape[1]))
        for place, delta in enumerate(self.deltas(U[:, None, :]), self.first):
            pushed = self._pushed(place, S)
            if pushed is not None:
                total += (pushed @ delta.transpose(1, 2))[:, :, 0]
        return total

    def row_squares(self, U: Tensor) -> Tensor:
        """The products of the m gradients U_iᵀ dZ_i/dθ of each row, (n, m, m), with U (n, m, k)."""
        total = self.Z.new_zeros((len(U), U.shape[1], U.shape[1]))
        for layer, inputs, delta in self.parts(U):
            size = (inputs * inputs).sum(dim=1) if isinstance(layer.weight, slice) else 0.0
            size = size + float(isinstance(layer.bias, slice))
            total += (delta @ delta.transpose(1, 2)) * torch.as_tensor(size).reshape(-1, 1, 1)
        return total

    def row_gradients(self, U: Tensor) -> Tensor:
        """U_iᵀ dZ_i/dθ, (n, m, size), with U (n, m, k)."""
        found = self.Z.new_zeros((len(U), U.shape[1], len(self.theta)))
        for layer, inputs, delta in self.parts(U):
            if isinstance(layer.weight, slice):
                part = found[:, :, layer.weight].view(*delta.shape, layer.inputs)
                torch.mul(delta[:, :, :, None], inputs[:, None, None, :], out=part)
            if isinstance(layer.bias, slice):
                found[:, :, layer.bias] = delta
        return found

    def squares(self, U: Tensor) -> Tensor:
        """The squares of these gradients, summed over all of them, (size,)."""
        found = self.Z.new_zeros(len(self.theta))
        for layer, inputs, delta in self.parts(U):
            square = (delta * delta).sum(dim=1)
            if isinstance(layer.weight, slice):
                found[layer.weight] = (square.T @ (inputs * inputs)).reshape(-1)
            if isinstance(layer.bias, slice):
                found[layer.bias] = square.sum(dim=0)
        return found

    def gram(self, U: Tensor, other: Tensor | None = None) -> Tensor:
        """The products of all these gradients with each other, (n m, n m); or with those along
        ``other``, (n m, n l)."""
        n, m = U.shape[:2]
        second = self.parts(U if other is None else other)
        total = self.Z.new_zeros((n, m, n, second[0][2].shape[1]))
        for (layer, inputs, delta), (_, _, there) in zip(self.parts(U), second, strict=True):
            like = inputs @ inputs.T if isinstance(layer.weight, slice) else inputs.new_zeros(n, n)
            like += float(isinstance(layer.bias, slice))
            both = delta.reshape(n * m, -1) @ there.reshape(-1, there.shape[2]).T
            total += both.view(total.shape) * like[:, None, :, None]
        return total.view(n * m, -1)
