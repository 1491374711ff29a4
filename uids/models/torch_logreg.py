"""L2 logistic regression in torch: the model of ``logreg``, trained and differentiated by torch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uids.backends import Array
from uids.backends.torch import DTYPES, Torch
from uids.errors import UidsError, require
from uids.models.model import C_START, ROUGH, Fitted, checked_C, number_C
from uids.models.rows import Rows
from uids.models.torch.fitted import FittedTorch
from uids.models.torch.linear_lbfgs import minimise_linear
from uids.models.torch.scores import LinearScores, cross_entropy


@dataclass(frozen=True)
class TorchLogisticRegression:
    """Minimises F(θ) = ½‖θ‖² + C Σ_i ω_i l_i(θ) with L-BFGS, the intercept not penalised.

    Dense or sparse X. Its parameters are laid out as those of ``logreg``; ``C`` may be ``auto``.
    """

    C: int | float | str = C_START
    fit_intercept: bool = True
    tol: float = 1e-9
    max_iter: int = 5000
    device: str = "cpu"
    dtype: str = "float64"

    def __post_init__(self) -> None:
        object.__setattr__(self, "C", checked_C(self.C))
        require(0 < self.tol < 1, "tol", "in (0, 1)", self.tol)
        require(self.max_iter >= 1, "max_iter", "1 or more", self.max_iter)
        require(self.dtype in DTYPES, "dtype", "'float64' or 'float32'", self.dtype)

    def fit(
        self, rows: Rows, weights: Array | None = None, start: Fitted | None = None
    ) -> FittedTorch:
        begin = self.untrained(rows) if start is None else self.restore(start.theta, rows)
        fitted, largest = minimise_linear(begin, rows, weights, self.tol, self.max_iter)
        # Rounding keeps float32 from more than about six digits.
        if not largest <= (1000 * self.tol if self.dtype == "float64" else 1e-4):
            raise UidsError(
                f"model 'torch_logreg' did not converge: the gradient is {largest:.1e} after at "
                f"most {self.max_iter} iterations; raise model.max_iter or scale the features"
            )
        return fitted

    def untrained(self, rows: Rows) -> FittedTorch:
        columns = 1 if rows.classes == 2 else rows.classes
        return self.restore(np.zeros((rows.X.shape[1] + self.fit_intercept) * columns), rows)

    def rough(self) -> TorchLogisticRegression:
        return replace(self, tol=max(self.tol, ROUGH))

    def restore(self, theta: Array, rows: Rows) -> FittedTorch:
        columns = 1 if rows.classes == 2 else rows.classes
        d, b = rows.X.shape[1], int(self.fit_intercept)
        penalised = np.ones((d + b, columns))
        penalised[d:] = 0
        return FittedTorch(
            theta=theta,
            classes=rows.classes,
            outputs=columns,
            C=number_C(self.C),
            penalised=penalised.ravel(),
            scores=LinearScores(columns, self.fit_intercept, Torch(self.device, self.dtype).matrix),
            row_losses=cross_entropy,
            device=self.device,
            dtype=DTYPES[self.dtype],
        )
