"""Networks that are a chain of linear layers, each with a function of single numbers after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch

Tensor: TypeAlias = torch.Tensor  # said, since without torch mypy cannot see that it is a type

ELEMENTWISE = (
    torch.nn.Tanh,
    torch.nn.ReLU,
    torch.nn.Sigmoid,
    torch.nn.GELU,
    torch.nn.SiLU,
    torch.nn.Softplus,
    torch.nn.ELU,
    torch.nn.LeakyReLU,
    torch.nn.LogSigmoid,
)
WITHOUT_EFFECT = (torch.nn.Identity, torch.nn.Dropout)  # of a network that is not in training


def trainable(network: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """The parameters that training moves, by name: those that are frozen are no part of θ."""
    return {name: p for name, p in network.named_parameters() if p.requires_grad}


def last_trainable(network: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Those of the module that comes last: its own, and the last in θ."""
    parameters = trainable(network)
    module = list(parameters)[-1].rpartition(".")[0]
    return {name: p for name, p in parameters.items() if name.rpartition(".")[0] == module}


@dataclass(frozen=True)
class Layer:
    """σ(H Wᵀ + b). ``weight`` and ``bias`` are places in θ, or tensors where they are frozen."""

    outputs: int
    inputs: int
    weight: slice | Tensor
    bias: slice | Tensor | None
    bend: tuple[torch.nn.Module, ...] = ()

    def matrix(self, theta: Tensor) -> Tensor:
        if isinstance(self.weight, slice):
            return theta[self.weight].view(self.outputs, self.inputs)
        return self.weight

    def shift(self, theta: Tensor) -> Tensor | None:
        return theta[self.bias] if isinstance(self.bias, slice) else self.bias

    def curve(self, A: Tensor) -> Tensor:
        for module in self.bend:
            A = module(A)
        return A

    @property
    def moves(self) -> bool:
        return isinstance(self.weight, slice) or isinstance(self.bias, slice)


def chain_of(network: torch.nn.Module) -> tuple[Layer, ...] | None:
    """The layers of a network that is such a chain; None of any other."""
    places, first = {}, 0
    for parameter in trainable(network).values():
        places[id(parameter)] = slice(first, first + parameter.numel())
        first += parameter.numel()
    layers: list[Layer] = []
    for module in modules_of(network):
        if module is None or hooked(module):
            return None
        if type(module) is torch.nn.Linear:
            bias = module.bias
            layers.append(
                Layer(
                    module.out_features,
                    module.in_features,
                    places.pop(id(module.weight), module.weight.detach()),
                    None if bias is None else places.pop(id(bias), bias.detach()),
                )
            )
        elif type(module) in ELEMENTWISE and layers:
            layers[-1] = replace(layers[-1], bend=(*layers[-1].bend, module))
        elif type(module) not in WITHOUT_EFFECT:
            return None
    # A parameter that two layers share, or none, has no place of its own.
    shared = places or len({id(p) for p in network.parameters()}) != len(
        [p for m in network.modules() for p in m.parameters(recurse=False)]
    )
    return None if shared or not layers else tuple(layers)


def modules_of(network: torch.nn.Module) -> Iterator[torch.nn.Module | None]:
    """One after the other; None where one is within another that need not be a chain."""
    if type(network) is torch.nn.Sequential:
        if hooked(network):
            yield None
        for module in network:
            yield from modules_of(module)
    else:
        yield None if list(network.children()) else network


def hooked(module: torch.nn.Module) -> bool:
    """Whether something else is done in its passes."""
    return bool(module._forward_hooks or module._forward_pre_hooks or module._backward_hooks)


def chain_value(layers: tuple[Layer, ...], theta: Tensor, H: Tensor) -> Tensor:
    """Z, (n, k)."""
    for layer in layers:
        H = layer.curve(torch.nn.functional.linear(H, layer.matrix(theta), layer.shift(theta)))
    return H
