"""A torch model at its parameters: losses, gradients and curvature by autograd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from torch.func import grad, jvp, vmap

from uids.backends import Array
from uids.errors import UidsError
from uids.models import Rows
from uids.models.logistic.curvature import outer

Tensor = torch.Tensor
RowLosses = Callable[[Tensor, Tensor], Tensor]  # (scores (n, k), y (n,)) ↦ (n,)
DIAGONAL_LIMIT = 200  # parameters up to which the diagonal is exact
DIAGONAL_PROBES = 100


def cross_entropy(Z: Tensor, y: Tensor) -> Tensor:
    """l_i from scores: one column is the log-odds of class 1, K columns are softmax's."""
    if Z.shape[1] == 1:
        return torch.nn.functional.softplus(Z[:, 0]) - y * Z[:, 0]
    return torch.nn.functional.cross_entropy(Z, y, reduction="none")


class ScoreFunction(Protocol):
    """Z(θ), of shape (n, k), and its derivative in both directions."""

    def data(self, X: Any) -> Any: ...  # X as this function wants it
    def value(self, theta: Tensor, data: Any) -> Tensor: ...
    def forward(self, theta: Tensor, data: Any, v: Tensor) -> Tensor: ...  # (dZ/dθ) v, (n, k)
    def backward(self, theta: Tensor, data: Any, U: Tensor) -> Tensor: ...  # (dZ/dθ)ᵀ U, (size,)


@dataclass(frozen=True)
class FittedTorch:
    """θ̂ with the functions that it belongs to. ``penalised`` is 0 where there is no penalty."""

    theta: Array
    classes: int
    C: float
    penalised: Array
    scores: ScoreFunction
    row_losses: RowLosses
    device: str
    dtype: torch.dtype
    damping: float = 0.0
    exact: bool = True  # the Hessian itself, not the Gauss–Newton matrix

    def to(self, array: Array) -> Tensor:
        return torch.as_tensor(array, dtype=self.dtype, device=self.device)

    def labels(self, rows: Rows) -> Tensor:
        y = torch.as_tensor(rows.y, device=self.device)
        return y.to(self.dtype) if self.classes == 2 else y

    def evaluate(self, rows: Rows) -> tuple[Any, Tensor]:
        data = self.scores.data(rows.X.X)
        return data, self.scores.value(self.to(self.theta), data)

    def probabilities(self, rows: Rows) -> Array:
        with torch.no_grad():
            _, Z = self.evaluate(rows)
            if Z.shape[1] == 1:
                Z = torch.hstack([torch.zeros_like(Z), Z])
            return numpy(torch.softmax(Z, dim=1))

    def losses(self, rows: Rows) -> Array:
        with torch.no_grad():
            return numpy(self.row_losses(self.evaluate(rows)[1], self.labels(rows)))

    def curvature(self, rows: Rows, weights: Array | None = None) -> TorchCurvature:
        return TorchCurvature(self, rows, weights)


@dataclass(frozen=True)
class TorchCurvature:
    """H = (1/n) (Σ_i ω_i ∇²l_i + diag(penalised)/C) + damping · I.

    With Z_i(θ) the scores, ∇²l_i is Jᵀ (∂²l/∂Z²) J, the Gauss–Newton matrix, plus a term with the
    second derivative of Z. That term is 0 for a linear model; for a network it can make H
    indefinite, and is left out unless ``exact``.
    """

    at: FittedTorch
    over: Rows
    weights: Array | None = None

    @property
    def size(self) -> int:
        return len(self.at.theta)

    @property
    def rows(self) -> int:
        return len(self.over)

    @property
    def scale(self) -> float:
        return 1 / (1 / (self.rows * self.at.C) + self.at.damping)

    @property
    def columns(self) -> int:
        return 1 if self.at.classes == 2 else self.at.classes

    @property
    def dense_cost(self) -> float:
        return float(self.size)

    @property
    def diagonal_cost(self) -> float:
        return float(min(self.size, DIAGONAL_PROBES))

    @cached_property
    def _theta(self) -> Tensor:
        return self.at.to(self.at.theta)

    @cached_property
    def _data(self) -> tuple[Any, Tensor, Tensor | None]:
        weights = None if self.weights is None else self.at.to(self.weights)
        return self.at.scores.data(self.over.X.X), self.at.labels(self.over), weights

    def dot(self, V: Array) -> Array:
        return self._dot(V, *self._data, 1.0)

    def dot_rows(self, V: Array, index: Array) -> Array:
        some = self.over.take(index)
        weights = None if self.weights is None else self.at.to(self.weights[index])
        data = self.at.scores.data(some.X.X)
        return self._dot(V, data, self.at.labels(some), weights, self.rows / len(index))

    def _dot(self, V: Array, data: Any, y: Tensor, weights: Tensor | None, scale: float) -> Array:
        theta, scores = self._theta, self.at.scores
        linear = isinstance(scores, LinearScores)
        Z = scores.value(theta, data)

        def risk_of_scores(Z: Tensor) -> Tensor:
            losses = self.at.row_losses(Z, y)
            return losses.sum() if weights is None else (weights * losses).sum()

        def product(v: Tensor) -> Tensor:
            if self.at.exact and not linear:
                slope = grad(lambda t: risk_of_scores(scores.value(t, data)))
                return jvp(slope, (theta,), (v,))[1]
            U = scores.forward(theta, data, v)
            return scores.backward(theta, data, jvp(grad(risk_of_scores), (Z,), (U,))[1])

        columns = self.at.to(V.reshape(self.size, -1))
        curved = torch.stack([product(v) for v in columns.T], dim=1)
        result = numpy(curved) * scale
        flat = V.reshape(self.size, -1)
        result += self.at.penalised[:, None] / self.at.C * flat
        if isinstance(scores, LinearScores) and scores.intercept and scores.columns > 1:
            # As in logreg: all intercepts can move together without effect; this term fixes that.
            result[-scores.columns :] += flat[-scores.columns :].mean(axis=0)
        return np.asarray(result / self.rows + self.at.damping * flat).reshape(V.shape)

    def diagonal(self) -> Array:
        if self.size <= DIAGONAL_LIMIT:
            return np.diag(self.dense()).copy()
        # Hutchinson: the mean of z ∘ H z over random signs z. Below the ridge it cannot be.
        rng = np.random.default_rng(0)
        total = np.zeros(self.size)
        for _ in range(DIAGONAL_PROBES):
            z = rng.choice([-1.0, 1.0], self.size)
            total += z * self.dot(z)
        return np.maximum(total / DIAGONAL_PROBES, 1 / self.scale)

    def dense(self) -> Array:
        H = self.dot(np.eye(self.size))
        return (H + H.T) / 2

    def _slopes(self, rows: Rows) -> tuple[Any, Tensor]:
        """(data, ∂l_i/∂Z_i)."""
        data, Z = self.at.evaluate(rows)
        y = self.at.labels(rows)
        return data, grad(lambda z: self.at.row_losses(z, y).sum())(Z)

    def gradient(self, rows: Rows) -> Array:
        data, slopes = self._slopes(rows)
        return numpy(self.at.scores.backward(self._theta, data, slopes))

    def row_products(self, rows: Rows, S: Array) -> Array:
        data, slopes = self._slopes(rows)
        columns = self.at.to(S.reshape(self.size, -1))
        products = [
            (self.at.scores.forward(self._theta, data, s) * slopes).sum(dim=1) for s in columns.T
        ]
        return numpy(torch.stack(products, dim=1)).reshape(len(rows), *S.shape[1:])

    def gradient_norms(self, rows: Rows) -> Array:
        height = max(1, 2**22 // max(self.size, len(rows)))  # gradients held at a time
        parts = (np.arange(i, min(i + height, len(rows))) for i in range(0, len(rows), height))
        norms = [np.linalg.norm(self.row_gradients(rows.take(part)), axis=0) for part in parts]
        return np.concatenate(norms)

    def row_gradients(self, rows: Rows) -> Array:
        if isinstance(self.at.scores, LinearScores):
            return outer(rows, numpy(self._slopes(rows)[1]), self.at.scores.intercept)
        data, y = self.at.scores.data(rows.X.X), self.at.labels(rows)

        def row_loss(theta: Tensor, x: Tensor, label: Tensor) -> Tensor:
            return self.at.row_losses(self.at.scores.value(theta, x[None]), label[None])[0]

        return numpy(vmap(grad(row_loss), in_dims=(None, 0, 0))(self._theta, data, y)).T

    def penalty_product(self, s: Array) -> float:
        return float((self.at.penalised * self.at.theta) @ s / self.at.C)


@dataclass(frozen=True)
class LinearScores:
    """Z = X Θ (+ intercepts in the last row of Θ): products by hand, since torch.func knows no
    sparse matrix."""

    columns: int
    intercept: bool
    matrix: Callable[[Any], Any]  # X ↦ TorchMatrix

    def data(self, X: Any) -> Any:
        return self.matrix(X)

    def value(self, theta: Tensor, data: Any) -> Tensor:
        T = theta.reshape(-1, self.columns)
        return data.mm(T[:-1]) + T[-1] if self.intercept else data.mm(T)

    def forward(self, theta: Tensor, data: Any, v: Tensor) -> Tensor:
        return self.value(v, data)

    def backward(self, theta: Tensor, data: Any, U: Tensor) -> Tensor:
        G = data.tmm(U)
        return (torch.vstack([G, U.sum(dim=0)]) if self.intercept else G).reshape(-1)


@dataclass(frozen=True)
class ModuleScores:
    """Z = network(X), θ being all its parameters one after the other."""

    network: torch.nn.Module
    device: str
    dtype: torch.dtype

    def data(self, X: Any) -> Tensor:
        if not isinstance(X, np.ndarray):
            raise UidsError("model 'torch_module' takes dense data: use model=torch_logreg")
        return torch.as_tensor(X, dtype=self.dtype, device=self.device)

    def value(self, theta: Tensor, data: Tensor) -> Tensor:
        named, first = {}, 0
        for name, parameter in self.network.named_parameters():
            last = first + parameter.numel()
            named[name] = theta[first:last].reshape(parameter.shape)
            first = last
        Z = torch.func.functional_call(self.network, named, (data,))
        return Z if Z.ndim == 2 else Z[:, None]

    def forward(self, theta: Tensor, data: Tensor, v: Tensor) -> Tensor:
        return jvp(lambda t: self.value(t, data), (theta,), (v,))[1]

    def backward(self, theta: Tensor, data: Tensor, U: Tensor) -> Tensor:
        pull = torch.func.vjp(lambda t: self.value(t, data), theta)[1]
        return pull(U)[0]


def minimise(
    start: FittedTorch, rows: Rows, weights: Array | None, tol: float, max_iter: int
) -> tuple[FittedTorch, float]:
    """L-BFGS on (1/n) (Σ ω_i l_i + ½ θᵀdiag(penalised)θ / C). Returns the model there and the
    largest coordinate of the gradient."""
    n = len(rows)
    data, y = start.scores.data(rows.X.X), start.labels(rows)
    w = None if weights is None else start.to(weights)
    penalised = start.to(start.penalised) / start.C
    theta = start.to(start.theta).clone()

    def closure() -> Tensor:
        Z = start.scores.value(theta, data)

        def risk(z: Tensor) -> Tensor:
            losses = start.row_losses(z, y)
            return losses.sum() if w is None else (w * losses).sum()

        slopes = grad(risk)(Z)
        theta.grad = (start.scores.backward(theta, data, slopes) + penalised * theta) / n
        return (risk(Z) + 0.5 * (penalised * theta * theta).sum()) / n

    optimiser = torch.optim.LBFGS(
        [theta],
        max_iter=max_iter,
        max_eval=2 * max_iter,
        tolerance_grad=tol,
        tolerance_change=0,
        history_size=50,
        line_search_fn="strong_wolfe",
    )
    with torch.no_grad():
        optimiser.step(closure)  # type: ignore[no-untyped-call]
        closure()
    assert theta.grad is not None
    return replace(start, theta=numpy(theta)), float(theta.grad.abs().max())


def numpy(tensor: Tensor) -> Array:
    return tensor.detach().cpu().numpy().astype(np.float64)
