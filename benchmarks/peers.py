"""φ by other libraries, each driven at its best; runs in their environment: see ``clock.main``.

The whole validation set is *one* item, whose loss is the sum over its rows, so that each library
solves once. An item of the training set is one row: so items are (rows, features), and the loss of
a batch is the mean over items of the sum over rows. One batch; in
float32, or in float64 if float32 cannot give the accuracy asked for.
"""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import clock
import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
# As fine steps as uids' and scipy's, so that nobody is timed at more accuracy than is asked for.
RELATIVE = [("float32", c * 10.0**-k) for k in (3, 4, 5) for c in (1, 0.3)] + [
    ("float64", c * 10.0**-k) for k in (4, 5, 6, 7) for c in (1, 0.3)
]
# dattri's CG has no stopping rule: past the last digit of float32 it divides 0 by 0.
ITERATIONS = [("float32", k) for k in range(20, 101, 10)] + [
    ("float64", k) for k in (*range(50, 150, 10), *range(150, 400, 25), 400)
]
EXACT = [("float32", None), ("float64", None)]


@cache
def problem(folder: Path, precision: str) -> Problem:
    return Problem(folder, precision)


class Problem:
    def __init__(self, folder: Path, precision: str) -> None:
        def tensor(path: Path) -> Any:
            return torch.from_numpy(np.load(path).astype(precision, copy=False))

        about = json.loads((folder / "about.json").read_text())
        self.x, self.y = tensor(folder / "X.npy")[:, None, :], tensor(folder / "y.npy")[:, None]
        self.xv = tensor(folder / "validation" / "X.npy")[None]
        self.yv = tensor(folder / "validation" / "y.npy")[None]
        self.ridge = 1 / (len(self.x) * about["C"])
        self.model = torch.nn.Linear(self.x.shape[-1], 1, bias=False, dtype=self.x.dtype)
        with torch.no_grad():
            self.model.weight.copy_(tensor(folder / "theta.npy")[None])

    def loader(self) -> Any:
        return DataLoader(TensorDataset(self.x, self.y), batch_size=len(self.x))

    def loss(self, scores: Any, labels: Any) -> Any:
        labels = labels.reshape(scores.shape[:-1])
        return binary_cross_entropy_with_logits(scores[..., 0], labels, reduction="sum") / len(
            labels
        )


def pydvl_direct(folder: Path) -> Any:
    from pydvl.influence.torch import DirectInfluence

    def call(setting: Any) -> Any:
        p = problem(folder, setting[0])
        influence = DirectInfluence(p.model, p.loss, regularization=p.ridge).fit(p.loader())
        return -influence.influences(p.xv, p.yv, p.x, p.y).detach().numpy()[0]

    return call, EXACT


def pydvl_cg(folder: Path) -> Any:
    from pydvl.influence.torch import CgInfluence

    def call(setting: Any) -> Any:
        p = problem(folder, setting[0])
        influence = CgInfluence(
            p.model, p.loss, regularization=p.ridge, rtol=setting[1], atol=0.0, maxiter=500
        ).fit(p.loader())
        return -influence.influences(p.xv, p.yv, p.x, p.y).detach().numpy()[0]

    return call, RELATIVE


def dattri(folder: Path, kind: str) -> Any:
    from dattri.algorithm.influence_function import IFAttributorCG, IFAttributorExplicit
    from dattri.task import AttributionTask

    def call(setting: Any) -> Any:
        p = problem(folder, setting[0])

        def loss(parameters: Any, data: Any) -> Any:
            rows, labels = data
            return p.loss(torch.func.functional_call(p.model, parameters, rows), labels)

        task = AttributionTask(loss, p.model, p.model.state_dict())
        judged = DataLoader(TensorDataset(p.xv, p.yv), batch_size=1)
        if kind == "cg":
            attributor = IFAttributorCG(task, max_iter=setting[1], regularization=p.ridge)
        else:
            attributor = IFAttributorExplicit(task, regularization=p.ridge)
        attributor.cache(p.loader())
        return -attributor.attribute(p.loader(), judged).detach().numpy()[:, 0]

    return call, ITERATIONS if kind == "cg" else EXACT


def captum_naive(folder: Path) -> Any:
    from captum.influence._core.influence_function import NaiveInfluenceFunction

    checkpoint = str(folder / "captum.pt")

    def call(setting: Any) -> Any:
        p = problem(folder, setting[0])
        torch.save(p.model.state_dict(), checkpoint)

        def loss(scores: Any, labels: Any) -> Any:
            return p.loss(scores, labels) * len(labels)

        loss.reduction = "sum"  # type: ignore[attr-defined]
        influence = NaiveInfluenceFunction(
            p.model,
            p.loader(),
            checkpoint,
            loss_fn=loss,
            sample_wise_grads_per_batch=True,
            projection_dim=p.x.shape[-1],
            hessian_reg=p.ridge * len(p.x),
            hessian_inverse_tol=0.0,
        )
        return -influence.influence((p.xv, p.yv)).detach().numpy()[0] * len(p.x)

    return call, EXACT


if __name__ == "__main__":
    clock.main(
        {
            "pyDVL direct": pydvl_direct,
            "pyDVL CG": pydvl_cg,
            "dattri CG": lambda folder: dattri(folder, "cg"),
            "dattri explicit": lambda folder: dattri(folder, "explicit"),
            "captum naive": captum_naive,
        },
        ordered=False,  # float32 first, and after it float64
    )
