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
from uids.models.torch.layers import trainable
from uids.models.torch.lbfgs import minimise
from uids.models.torch.made import (
    FEW,
    check_losses,
    count_outputs,
    made_network,
    own_network,
    per_row,
)
from uids.models.torch.networks import NETWORKS
from uids.models.torch.scores import ModuleScores
from uids.registry import Entry

CURVATURES = ("gauss_newton", "hessian")
LAYERS = ("all", "last")


@dataclass(frozen=True)
class TorchModule:
    """A network whose training objective is Σ_i l_i(θ) + ‖θ‖² / (2C), trained with L-BFGS.

    ``network`` is a registered name (its fields in ``network_fields``) or, from Python, a
    ``torch.nn.Module``, whose training goes on from the weights that it has, or a function of
    (features, outputs) that makes one. It gives (n, outputs) scores: one output for two classes
    (or two, softmax), K for more. ``loss``, from Python, maps (scores, y) to one loss a row; losses
    of torch's own do too. ``C`` is inf where there is no penalty.

    A network's Hessian need not be positive definite. ``gauss_newton`` always is; ``hessian`` is
    exact and wants a ``damping`` above minus its lowest eigenvalue. The damping is added to H.
    With ``layers="last"`` all is trained, but the influence is that on the parameters of the last
    layer alone, as if the others were given: a small convex problem under a network of any size.
    """

    network: Any = "mlp"
    network_fields: dict[str, Any] = field(default_factory=dict)
    C: float = 1.0
    curvature: str = "gauss_newton"
    layers: str = "all"
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
        require(self.layers in LAYERS, "layers", "'all' or 'last'", self.layers)
        require(self.C > 0, "C", "positive", self.C)
        require(self.damping >= 0, "damping", "0 or more", self.damping)
        penalised = self.damping > 0 or not np.isinf(self.C)
        require(penalised, "damping", "more than 0 where C is inf", self.damping)
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
        if isinstance(start, FittedTorch) and start.made_by == self._made_by():
            begin = replace(
                start, C=self.C, damping=self.damping, exact=self.curvature == "hessian"
            )
        else:
            begin = self.untrained(rows)
            if start is not None:
                begin = replace(begin, theta=start.theta)
        # A network may stop short of a stationary point; the identity error of the run tells.
        begin = replace(begin, last_layer=False)
        fitted = minimise(begin, rows, weights, self.tol, self.max_iter)[0]
        return replace(fitted, last_layer=self.layers == "last")

    def _made_by(self) -> tuple[object, ...]:
        """What a network and its loss depend on: fits of equal ones share them."""
        fields = self.network, self.network_fields, self.seed, self.device, self.dtype, self.loss
        return fields

    def untrained(self, rows: Rows) -> FittedTorch:
        """The network as it is made, from ``seed``, or as it was handed in."""
        dtype = DTYPES[self.dtype]
        network = own_network(self._network(rows), self.device, dtype)
        scores = ModuleScores(network, self.device, dtype)
        outputs = count_outputs(scores, rows, self.loss is not None)
        parameters = list(trainable(network).values())
        initial = torch.nn.utils.parameters_to_vector(parameters).detach().cpu().numpy()
        fitted = FittedTorch(
            theta=initial.astype(np.float64),
            classes=rows.classes,
            outputs=outputs,
            C=self.C,
            penalised=np.ones(len(initial)),
            scores=scores,
            row_losses=per_row(self.loss, dtype),
            device=self.device,
            dtype=dtype,
            damping=self.damping,
            exact=self.curvature == "hessian",
            last_layer=self.layers == "last",
            made_by=self._made_by(),
        )
        if self.loss is not None:
            some = rows.take(np.arange(min(FEW, len(rows))))
            check_losses(fitted.row_losses, fitted.evaluate(some)[1], fitted.labels(some))
        return fitted

    def trained(self, rows: Rows, labels: Array) -> FittedTorch | None:
        """A network that was handed in as it is, and not as a way to make one, is trained."""
        return self.untrained(rows) if isinstance(self.network, torch.nn.Module) else None

    def _network(self, rows: Rows) -> torch.nn.Module:
        if isinstance(self.network, torch.nn.Module):
            return self.network
        make: Callable[[int, int], object] = self.network
        if not callable(self.network):
            make = NETWORKS.build(self.network, **self.network_fields).build
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return made_network(make, rows.X.shape[1], 1 if rows.classes == 2 else rows.classes)
