"""A network of 257 parameters on 284 rows: ``ratio=auto``, φ and leverages, beside what torch alone
does in a few lines. Processor seconds in one process, by turns, one thread for everybody, the least
of several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from classes import least
from torch.func import functional_call, hessian, jacrev, vmap
from torch.nn.functional import binary_cross_entropy_with_logits as losses_of

import uids
from uids.backends import adopt_backend
from uids.datasets.adopted import AdoptedDataset
from uids.datasets.split import split
from uids.models import Rows
from uids.models.torch_module import TorchModule
from uids.pipeline.settings import make_settings
from uids.registry import REGISTRIES
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver

HIDDEN, C, DAMPING = 8, 1.0, 1e-3
TOLERANCE = 1e-5  # of the largest coordinate of the gradient, in fits by torch's own L-BFGS


class Plain:
    """The same objective and its derivatives by torch.func, all of H and all gradients at once."""

    def __init__(self, rows: Rows) -> None:
        self.model = TorchModule(network_fields={"hidden": HIDDEN}, C=C, damping=DAMPING)
        self.start = self.model.untrained(rows)
        self.network: Any = self.start.scores.network  # type: ignore[union-attr]
        self.X = torch.as_tensor(np.array(rows.X.fetch()))
        self.y = torch.as_tensor(rows.y.astype(np.float64))
        self.shapes = {name: p.shape for name, p in self.network.named_parameters()}

    def scores(self, theta: Any, X: Any) -> Any:
        parts = torch.split(theta, [shape.numel() for shape in self.shapes.values()])
        named = {
            name: part.reshape(shape)
            for (name, shape), part in zip(self.shapes.items(), parts, strict=True)
        }
        return functional_call(self.network, named, (X,))[:, 0]

    def fit(self) -> Any:
        """θ̂ by torch's L-BFGS with its line search, from the start."""
        theta = torch.as_tensor(self.start.theta).clone().requires_grad_()
        how = {"max_iter": 5000, "max_eval": 10_000, "tolerance_change": 0.0, "history_size": 50}
        optimiser = torch.optim.LBFGS(
            [theta], tolerance_grad=TOLERANCE, line_search_fn="strong_wolfe", **how
        )

        def closure() -> Any:
            optimiser.zero_grad()
            risk = losses_of(self.scores(theta, self.X), self.y)
            value = risk + (theta @ theta) / (2 * len(self.y) * C)
            value.backward()
            return value

        optimiser.step(closure)
        return theta.detach()

    def curved(self, theta: Any) -> Any:
        """The damped Gauss–Newton matrix, and J."""
        n = len(self.y)
        J = vmap(jacrev(lambda t, x: self.scores(t, x[None])[0]), (None, 0))(theta, self.X)
        p = torch.sigmoid(self.scores(theta, self.X))
        w = p * (1 - p)
        ridge = (1 / (n * C) + DAMPING) * torch.eye(len(theta), dtype=J.dtype)
        return (J * w[:, None]).T @ J / n + ridge, J, w

    def phi(self, theta: Any, X: Any, y: Any) -> Any:
        H, J, _ = self.curved(theta)
        g = torch.func.grad(lambda t: losses_of(self.scores(t, X), y, reduction="sum"))(theta)
        slopes = torch.sigmoid(self.scores(theta, self.X)) - self.y
        return -(J @ torch.linalg.solve(H, g)) * slopes

    def leverage(self, theta: Any) -> Any:
        H, J, w = self.curved(theta)
        return w * (J * torch.linalg.solve(H, J.T).T).sum(dim=1) / len(self.y)

    def both(self, theta: Any, X: Any, y: Any) -> Any:
        self.phi(theta, X, y)
        return self.leverage(theta)

    def exact(self, theta: Any) -> Any:
        """H itself."""
        n = len(self.y)

        def objective(t: Any) -> Any:
            return losses_of(self.scores(t, self.X), self.y) + (t @ t) / (2 * n * C)

        return hessian(objective)(theta)


def small_network(bench: Any) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        bench.section("n. A small network: 257 parameters, 284 rows; processor seconds, one thread")
        bench.say("", *table())
    finally:
        torch.set_num_threads(threads)
    bench.save()


def table() -> Iterator[str]:
    train, judges = rows()
    plain = Plain(train)
    auto, found = least(walk, 3)
    fits = found.metrics["selection"]["fits"]
    one, theta = least(plain.fit, 3)
    yield "| | uids | torch alone | ratio | largest difference |"
    yield "|---|---|---|---|---|"
    yield (
        f"| `ratio=auto`, a whole run of {fits} fits; torch: as many fits from the start | "
        f"{auto:.2f} | {fits * one:.2f} | {fits * one / auto:.1f} × | |"
    )
    fitted = plain.model.untrained(train)
    fitted = type(fitted)(**{**vars(fitted), "theta": theta.numpy()})
    Xv = torch.as_tensor(np.array(judges.X.fetch()))
    yv = torch.as_tensor(judges.y.astype(np.float64))

    def ours() -> Any:  # what a curvature keeps is made anew
        return influence_at(fitted.curvature(train), train, judges, adopt_solver("auto"))

    for name, mine, theirs in (
        ("φ", lambda: ours().phi, lambda: plain.phi(theta, Xv, yv)),
        ("φ and leverage", lambda: ours().leverage, lambda: plain.both(theta, Xv, yv)),
    ):
        yield row(name, mine, theirs)
    yield row(
        "H, exact",
        lambda: exact(fitted, train),
        lambda: plain.exact(theta) + DAMPING * torch.eye(len(theta), dtype=theta.dtype),
    )


def row(name: str, ours: Callable[[], Any], theirs: Callable[[], Any]) -> str:
    (mine, a), (plain, b) = least(ours, 5), least(theirs, 5)
    b = b.numpy()
    error = np.abs(a - b).max() / np.abs(b).max()
    return f"| {name} | {mine:.4f} | {plain:.4f} | {plain / mine:.1f} × | {error:.0e} |"


def exact(fitted: Any, train: Rows) -> Any:
    return type(fitted)(**{**vars(fitted), "exact": True}).curvature(train).dense()


def walk() -> Any:
    model = {"name": "torch_module", "network_fields": {"hidden": HIDDEN}, "C": C}
    return uids.run(model=model, ratio="auto", repeats=1, cache=False)


def rows() -> tuple[Rows, Rows]:
    """Training and validation rows of a run of the default data set."""
    settings, data = make_settings(), AdoptedDataset(REGISTRIES["dataset"].choose("breast_cancer"))
    shares = split(data.load(), settings.split, 0.0, settings.split_seed, settings.noise_kind)
    train, judges = (
        Rows(adopt_backend("numpy").matrix(shares.sources[part.origin][part.row]), part.y, 2)
        for part in (shares.train, shares.validation)
    )
    return train, judges
