"""φ of the network of part n by other libraries; runs in their environment: see ``peers``."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import clock
import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
ERROR = 1e-3  # that of networks.py, which this environment cannot import
CHUNK = 500  # rows whose gradients are held at a time, 200 MB; dattri solves anew for each batch


class Problem:
    """The validation rows are one item, whose loss is the sum over its rows; see ``peers``."""

    def __init__(self, folder: Path) -> None:
        def tensors(place: Path) -> Any:
            return (torch.from_numpy(np.load(place / name)) for name in ("X.npy", "y.npy"))

        about = json.loads((folder / "about.json").read_text())
        (x, y), (xv, yv) = tensors(folder), tensors(folder / "validation")
        self.x, self.y, self.xv, self.yv = x[:, None, :], y[:, None], xv[None], yv[None]
        self.damping = about["damping"]
        self.model = torch.nn.Sequential(
            torch.nn.Linear(x.shape[1], about["hidden"]),
            torch.nn.Tanh(),
            torch.nn.Linear(about["hidden"], about["classes"]),
        )
        theta = torch.from_numpy(np.load(folder / "theta.npy").astype(np.float32))
        torch.nn.utils.vector_to_parameters(theta, self.model.parameters())

    def loader(self, batch: int | None = None) -> Any:
        return DataLoader(TensorDataset(self.x, self.y), batch_size=batch or len(self.x))

    def loss(self, scores: Any, labels: Any) -> Any:
        scores = scores.reshape(-1, scores.shape[-1])
        total = cross_entropy(scores, labels.reshape(-1), reduction="sum")
        return total / (labels.shape[0] if labels.dim() > 1 else 1)


def dattri_cg(folder: Path) -> Any:
    from dattri.algorithm.influence_function import IFAttributorCG
    from dattri.task import AttributionTask

    p = Problem(folder)

    def loss(parameters: Any, data: Any) -> Any:
        rows, labels = data
        return p.loss(torch.func.functional_call(p.model, parameters, rows), labels)

    def call(iterations: int) -> Any:
        task = AttributionTask(loss, p.model, p.model.state_dict())
        attributor = IFAttributorCG(task, max_iter=iterations, regularization=p.damping)
        attributor.cache(p.loader())  # one batch: the inverses of several would be added up
        judged = DataLoader(TensorDataset(p.xv, p.yv), batch_size=1)
        return -attributor.attribute(p.loader(5 * CHUNK), judged).detach().numpy()[:, 0]

    return call, [2, 3, 4, 5, 7, 10, 15, 20, 30]


def pydvl_cg(folder: Path) -> Any:
    from pydvl.influence.torch import CgInfluence

    p = Problem(folder)

    def call(tolerance: float) -> Any:
        influence = CgInfluence(
            p.model, p.loss, regularization=p.damping, rtol=tolerance, atol=0.0, maxiter=200
        ).fit(p.loader())
        factors = influence.influence_factors(p.xv, p.yv)
        found = [
            influence.influences_from_factors(factors, x, y).detach().numpy()[0]
            for x, y in p.loader(CHUNK)
        ]
        return -np.concatenate(found)

    return call, [10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4]


def captum_arnoldi(folder: Path) -> Any:
    """An approximation in few dimensions: the one of captum's that does not hold H."""
    from captum.influence._core.arnoldi_influence_function import ArnoldiInfluenceFunction

    p = Problem(folder)
    checkpoint = str(folder / "captum.pt")
    torch.save(p.model.state_dict(), checkpoint)

    def loss(scores: Any, labels: Any) -> Any:
        return p.loss(scores, labels) * len(labels)

    loss.reduction = "sum"  # type: ignore[attr-defined]

    def call(dimensions: int) -> Any:
        influence = ArnoldiInfluenceFunction(
            p.model,
            p.loader(CHUNK),
            checkpoint,
            loss_fn=loss,
            sample_wise_grads_per_batch=True,
            projection_dim=dimensions,
            arnoldi_dim=dimensions,
            hessian_reg=p.damping * len(p.x),
            hessian_inverse_tol=0.0,
        )
        return -influence.influence((p.xv, p.yv)).detach().numpy()[0] * len(p.x)

    return call, [20]


if __name__ == "__main__":
    clock.ERROR = ERROR
    clock.main(
        {
            "dattri CG, network": dattri_cg,
            "pyDVL CG, network": pydvl_cg,
            "captum Arnoldi, network": captum_arnoldi,
        },
        ordered=False,
    )
