"""The network and the loss of a ``torch_module``, as anyone hands them in, made fit for use and
tried on a few rows: what does not suit the data is told in our words, not in torch's."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import torch

from uids.errors import UidsError, one_line
from uids.models.rows import Rows
from uids.models.torch.layers import Tensor, trainable
from uids.models.torch.scores import ModuleScores, RowLosses, cross_entropy

FEW = 2  # rows that a network is tried on: of one, (n,) and (1, k) could not be told apart


def made_network(
    make: Callable[[int, int], object], features: int, outputs: int
) -> torch.nn.Module:
    """By a function of (features, outputs)."""
    try:
        network = make(features, outputs)
    except TypeError as error:
        raise UidsError(
            f"network({features}, {outputs}) failed: {one_line(error)}; network must be a function "
            "of (features, outputs) or a torch.nn.Module that is made already, such as Net()"
        ) from error
    if not isinstance(network, torch.nn.Module):
        raise UidsError(
            f"network({features}, {outputs}) must give a torch.nn.Module, not a "
            f"{type(network).__name__}"
        )
    return network


def own_network(network: torch.nn.Module, device: str, dtype: torch.dtype) -> torch.nn.Module:
    """A copy in the precision of the model, in which nothing is left to chance; whoever has handed
    the network in keeps it as it is."""
    try:
        copied = deepcopy(network)
    except RuntimeError as error:
        raise UidsError(f"the network cannot be copied: {one_line(error)}") from error
    copied = copied.to(device=device, dtype=dtype).train(False)
    if not trainable(copied):
        raise UidsError(
            "the network has no parameter that requires a gradient, so no row has an influence on "
            "it: call network.requires_grad_(True)"
        )
    return copied


def per_row(loss: Any, dtype: torch.dtype) -> RowLosses:
    """The loss as a function of (scores (n, k), y (n,)) that gives one number a row. A loss of
    torch's own (``torch.nn.CrossEntropyLoss()``) is taken without its mean over the rows, and is
    given the scores of a network with one output as (n,), which is what it wants."""
    if loss is None:
        return cross_entropy
    if not isinstance(loss, torch.nn.Module):
        wrapped: RowLosses = loss
        return wrapped
    module = deepcopy(loss).to(dtype=dtype)
    if "reduction" in vars(module):
        vars(module)["reduction"] = "none"

    def losses(Z: Tensor, y: Tensor) -> Tensor:
        value: Tensor = module(Z[:, 0] if Z.shape[1] == 1 else Z, y)
        return value

    return losses


def count_outputs(scores: ModuleScores, rows: Rows, own_loss: bool) -> int:
    """How many scores the network gives a row, by a few rows."""
    data = scores.data(rows.take(np.arange(min(FEW, len(rows)))).X)
    try:
        with torch.no_grad():
            Z = scores.network(data)
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
        raise UidsError(
            f"the network does not take rows of {rows.X.shape[1]} features, as a tensor of shape "
            f"{tuple(data.shape)}: {one_line(error)}"
        ) from error
    if not isinstance(Z, torch.Tensor):
        raise UidsError(f"the network must give a tensor of scores, not a {type(Z).__name__}")
    if Z.shape[: 1 if Z.ndim else 0] != data.shape[:1] or Z.ndim > 2:
        raise UidsError(
            f"the network must give scores of shape (rows, outputs), and gives {tuple(Z.shape)} "
            f"for {len(data)} rows"
        )
    outputs = Z.numel() // len(data)
    K = rows.classes
    wanted = "1 (the log-odds of the second class) or 2 (softmax)" if K == 2 else f"{K} (softmax)"
    if not own_loss and outputs not in ((1, 2) if K == 2 else (K,)):
        raise UidsError(
            f"the network gives {outputs} scores a row for {K} classes: make it {wanted}, or give "
            "a loss of your own"
        )
    return outputs


def check_losses(losses: RowLosses, Z: Tensor, y: Tensor) -> None:
    """One finite number a row."""
    try:
        with torch.no_grad():
            value = losses(Z, y)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise UidsError(
            f"the loss does not take scores of shape {tuple(Z.shape)} and labels of shape "
            f"{tuple(y.shape)} ({y.dtype}): {one_line(error)}"
        ) from error
    shape = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
    if shape != (len(Z),):
        raise UidsError(
            f"the loss must give one number a row, of shape ({len(Z)},), and gives {shape}: use "
            "reduction='none'"
        )
