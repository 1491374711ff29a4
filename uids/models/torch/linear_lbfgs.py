"""Training a linear torch model by torch's own L-BFGS."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.func import grad

from uids.backends import Array
from uids.models.rows import Rows
from uids.models.torch.fitted import FittedTorch
from uids.models.torch.layers import Tensor
from uids.models.torch.points import LinearAt
from uids.models.torch.scores import LinearScores, numpy

HISTORY = 50  # steps from which the inverse Hessian is estimated


def minimise_linear(
    start: FittedTorch, rows: Rows, weights: Array | None, tol: float, max_iter: int
) -> tuple[FittedTorch, float]:
    """L-BFGS on (1/n) (Σ ω_i l_i + ½ θᵀdiag(penalised)θ / C). Returns the model there and the
    largest coordinate of the gradient."""
    assert isinstance(start.scores, LinearScores)
    scores, n = start.scores, len(rows)
    data, y = scores.data(rows.X), start.labels(rows)
    w = None if weights is None else start.to(weights)
    penalised = start.to(start.penalised) / start.C
    theta = start.to(start.theta).clone()

    def closure() -> Tensor:
        at = LinearAt(scores, theta, data)
        Z = at.Z

        def risk(z: Tensor) -> Tensor:
            losses = start.row_losses(z, y)
            return losses.sum() if w is None else (w * losses).sum()

        slopes = grad(risk)(Z)
        theta.grad = (at.backward(slopes[:, None, :])[:, 0] + penalised * theta) / n
        return (risk(Z) + 0.5 * (penalised * theta * theta).sum()) / n

    optimiser = torch.optim.LBFGS(
        [theta],
        max_iter=max_iter,
        max_eval=2 * max_iter,
        tolerance_grad=tol,
        tolerance_change=0,
        history_size=HISTORY,
        line_search_fn="strong_wolfe",
    )
    with torch.no_grad():
        # Both: torch leaves it untyped, and without torch there is nothing to ignore.
        optimiser.step(closure)  # type: ignore[no-untyped-call, unused-ignore]
        closure()
    assert theta.grad is not None
    return replace(start, theta=numpy(theta)), float(theta.grad.abs().max())
