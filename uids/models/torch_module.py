"""Any torch network with a loss on its outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from uids.backends import Array
from uids.backends.torch import DTYPES
from uids.errors import require
from uids.models.model import ROUGH, Fitted
from uids.models.rows import Rows
from uids.models.torch.fitted import FittedTorch
from uids.models.torch.lbfgs import minimise
from uids.models.torch.networks import NETWORKS
from uids.models.torch.scores import ModuleScores, cross_entropy
from uids.registry import Entry

CURVATURES = ("gauss_newton", "hessian")


@dataclass(frozen=True)
class TorchModule:
    """A network whose training objective is Σ_i l_i(θ) + ‖θ‖² / (2C), trained with L-BFGS.

    ``network`` is a registered name (its fields in ``network_fields``) or, from Python, a function
    of (features, outputs) that makes a ``torch.nn.Module`` with (n, outputs) scores: one output
    for two classes, K for more. ``loss``, from Python, maps (scores, y) to one loss a row.

    A network's Hessian need not be positive definite. ``gauss_newton`` always is; ``hessian`` is
    exact and wants a ``damping`` above minus its lowest eigenvalue. The damping is added to H.
    """

    network: Any = "mlp"
    network_fields: dict[str, Any] = field(default_factory=dict)
    C: float = 1.0
    curvature: str = "gauss_newton"
    damping: float = 1e-3
    tol: float = 1e-7
    max_iter: int = 2000
    seed: int = 0
    device: str = "cpu"
    dtype: str = "float64"
    loss: Any = None

    def __post_init__(self) -> None:
        require(
            self.curvature in CURVATURES,
            "curvature",
            "'gauss_newton' or 'hessian'",
            self.curvature,
        )
        require(0 < self.C < np.inf, "C", "positive", self.C)
        require(self.damping >= 0, "damping", "0 or more", self.damping)
        require(0 < self.tol < 1, "tol", "in (0, 1)", self.tol)
        require(self.max_iter >= 1, "max_iter", "1 or more", self.max_iter)
        require(self.dtype in DTYPES, "dtype", "'float64' or 'float32'", self.dtype)
        require(
            self.loss is None or callable(self.loss),
            "loss",
            "a function, which only Python can give",
            self.loss,
        )
        if not callable(self.network):
            NETWORKS.entry(str(self.network))  # an unknown name fails before any work

    def nested_entries(self) -> list[Entry]:
        return [] if callable(self.network) else [NETWORKS.entry(str(self.network))]

    def rough(self) -> TorchModule:
        return replace(self, tol=max(self.tol, ROUGH))

    def fit(
        self, rows: Rows, weights: Array | None = None, start: Fitted | None = None
    ) -> FittedTorch:
        begin = self.untrained(rows)
        if start is not None:
            begin = replace(begin, theta=start.theta)
        # A network may stop short of a stationary point; the identity error of the run tells.
        return minimise(begin, rows, weights, self.tol, self.max_iter)[0]

    def untrained(self, rows: Rows) -> FittedTorch:
        """The network as it is made, from ``seed``."""
        make: Callable[[int, int], torch.nn.Module]
        if callable(self.network):
            make = self.network
        else:
            make = NETWORKS.build(self.network, **self.network_fields).build
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = make(rows.X.shape[1], 1 if rows.classes == 2 else rows.classes)
        network = network.to(device=self.device, dtype=DTYPES[self.dtype]).train(False)
        initial = torch.nn.utils.parameters_to_vector(network.parameters()).detach().cpu().numpy()
        return FittedTorch(
            theta=initial.astype(np.float64),
            classes=rows.classes,
            C=self.C,
            penalised=np.ones(len(initial)),
            scores=ModuleScores(network, self.device, DTYPES[self.dtype]),
            row_losses=self.loss or cross_entropy,
            device=self.device,
            dtype=DTYPES[self.dtype],
            damping=self.damping,
            exact=self.curvature == "hessian",
        )
