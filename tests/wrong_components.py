"""Components that are each wrong in one way, by the check that has to catch it."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from uids.app.plugins.new import files
from uids.backends import Backend
from uids.backends.numpy import NumpyMatrix
from uids.errors import Blame
from uids.models.blamed_forms import BlamedForms
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.solvers import Advice, Solution, residual


def template(kind):
    """The component that ``uids plugins new`` writes: right in every way."""
    name = f"right_{kind}"
    module = ModuleType(name)
    sys.modules[name] = module  # where its dataclass looks for its types
    text = files(name, kind, f"uids-{kind}-right")[f"uids_{kind}_right/{name}.py"]
    exec(compile(text, name, "exec"), vars(module))  # noqa: S102
    return module


# Backends: two products, one of them spoilt.


class Spoilt:
    """X, with whatever is put in place of a product."""

    def __init__(self, X, **spoilt):
        self.X, self.shape = X, X.shape
        for name, method in spoilt.items():
            setattr(self, name, method.__get__(self))

    def dot(self, V):
        return np.asarray(self.X @ V)

    def tdot(self, U):
        return np.asarray(self.X.T @ U)


@dataclass(frozen=True)
class WrongBackend:
    spoilt: dict = field(default_factory=dict, repr=False)

    def matrix(self, X):
        return Spoilt(X, **self.spoilt)


@dataclass(frozen=True)
class Sorting:
    """Rows come in the order of the whole, not in that of the index."""

    views: ClassVar[bool] = True

    def matrix(self, X):
        return Spoilt(X, rows=lambda self, index: Sorting().matrix(self.X[np.sort(index)]))


class Miscounting(NumpyMatrix):
    stored = 0


@dataclass(frozen=True)
class WrongFacts(Backend):
    def matrix(self, X):
        return Miscounting(X)


@dataclass(frozen=True)
class Growing:
    """Made of its own fields it is another."""

    count: int = 1

    def __post_init__(self):
        object.__setattr__(self, "count", self.count + 1)

    def matrix(self, X):
        return Spoilt(X)

    def solve(self, operator, g):
        return None

    def probabilities(self, scores):
        return None

    def fit(self, rows, weights=None, start=None):
        return None

    def load(self):
        return None


def kept(self, V):
    """One array for all results of a shape."""
    found = np.asarray(self.X @ V)
    self.__dict__.setdefault(found.shape, found)[...] = found
    return self.__dict__[found.shape]


def by_memory(self, V):
    dense = isinstance(self.X, np.ndarray)
    return (self.X.ravel(order="K").reshape(self.shape) if dense else self.X) @ V


def normed(self, V):
    size = float((abs(self.X)).sum())
    return (
        np.asarray(self.X @ V) / size * size
        if size
        else np.full((self.shape[0], *V.shape[1:]), np.nan)
    )


def on_sixty_rows(self, V):
    return np.asarray(self.X @ V) * (1.01 if self.shape[0] == 60 else 1)


def narrow(self, V):
    return np.asarray(self.X[:, :500] @ V[:500])


def single(self, U):
    found = np.asarray(self.X.T @ U)
    return found if self.shape[0] > 1 else found.ravel()[:1]


BACKENDS = {
    "config": Growing(),
    "products": WrongBackend({"dot": lambda self, V: np.asarray(self.X @ V, np.float32)}),
    "adjoint": WrongBackend({"tdot": lambda self, U: np.asarray(abs(self.X).T @ U)}),
    "other products": WrongBackend({"gram_dot": lambda self, w, V: self.X.T @ (self.X @ V)}),
    "views": Sorting(),
    "empty": WrongBackend({"dot": normed}),
    "single row": WrongBackend({"tdot": single}),
    "wide": WrongBackend({"dot": narrow}),
    "float32": WrongBackend(
        {"tdot": lambda self, U: np.asarray(self.X.T @ U.astype(self.X.dtype), np.float64)}
    ),
    "memory": WrongBackend({"dot": by_memory}),
    "no mutation": WrongBackend({"dot": kept}),
    "determinism": WrongBackend({"dot": lambda self, V: self.X @ V + 1e-14 * np.random.rand()}),
    "facts": WrongFacts(),
    "influence": WrongBackend({"dot": on_sixty_rows}),
}


# Solvers: exact, but for one thing.


@dataclass(frozen=True)
class WrongSolver:
    how: str = "right"
    max_iter: int = 100

    def solve(self, operator, g):
        s = getattr(self, self.how)(operator, g)
        return Solution(s, "converged", 0, residual(operator, s, g).relative)

    def right(self, operator, g):
        return np.linalg.solve(operator.dense(), g)

    def first_column(self, operator, g):
        s = self.right(operator, g)
        if g.ndim == 2:
            s[:, 1:] = 0
        return s

    def unit(self, operator, g):
        with np.errstate(invalid="ignore"):
            return self.right(operator, g / np.linalg.norm(g)) * np.linalg.norm(g)

    def descent(self, operator, g):
        s, step = np.zeros_like(g), 1 / np.linalg.norm(operator.dense(), 2)
        for _ in range(300):
            s = s + step * (g - operator.dot(s))
        return s

    def least_norm(self, operator, g):
        return np.linalg.pinv(operator.dense()) @ g

    def one_step(self, operator, g):
        return g if self.max_iter == 1 else self.right(operator, g)

    def noisy(self, operator, g):
        return self.right(operator, g) * (1 + 1e-14 * np.random.rand())

    def peeping(self, operator, g):
        return np.linalg.solve(operator.H, g)


@dataclass(frozen=True)
class Lying:
    def solve(self, operator, g):
        return Solution(np.ones_like(g), "converged", 3, 1e-16)


@dataclass(frozen=True)
class Spending:
    def solve(self, operator, g):
        found = WrongSolver().solve(operator, g)
        g[...] = 0
        return found


SOLVERS = {
    "config": Growing(),
    "one vector": Lying(),
    "several vectors": WrongSolver("first_column"),
    "small": WrongSolver("unit"),
    "ill conditioned": WrongSolver("descent"),
    "honesty": WrongSolver("least_norm"),
    "cut short": WrongSolver("one_step"),
    "determinism": WrongSolver("noisy"),
    "no mutation": Spending(),
    "curvature": WrongSolver("peeping"),
}


# Samplers.


@dataclass(frozen=True)
class WrongSampler:
    how: str = "right"

    def probabilities(self, scores):
        with np.errstate(all="ignore"):
            return getattr(self, self.how)(scores.phi)

    def right(self, phi):
        return 1 / (1 + np.exp(np.clip(phi / (np.abs(phi).max() or 1), -1, 1)))

    def unbounded(self, phi):
        return 0.5 - phi / (4 * (np.median(np.abs(phi)) or 1))

    def ranged(self, phi):
        return (phi.max() - phi) / (phi.max() - phi.min()) if len(phi) > 1 else np.ones(1)

    def gaps(self, phi):
        gaps = np.diff(np.sort(phi), append=phi.max() + 1)
        return np.clip(gaps.min() / gaps, 0, 1)

    def spread(self, phi):
        return np.clip(0.5 - phi / phi.std(ddof=1), 0, 1) if phi.any() else np.ones(len(phi))

    def chance(self, phi):
        return np.random.rand(len(phi))

    def sorting(self, phi):
        phi.sort()
        return self.right(phi)


@dataclass(frozen=True)
class LowBound(WrongSampler):
    def gradient_bound(self, scores):
        return 1e-6


@dataclass(frozen=True)
class WithoutUnit:
    alpha: float | str = 1.0

    def probabilities(self, scores):
        return 1 / (1 + np.exp(np.clip(self.alpha * scores.phi, -50, 50)))


SAMPLERS = {
    "config": Growing(),
    "range of pi": WrongSampler("unbounded"),
    "constant phi": WrongSampler("ranged"),
    "ties": WrongSampler("gaps"),
    "one row": WrongSampler("spread"),
    "determinism": WrongSampler("chance"),
    "no mutation": WrongSampler("sorting"),
    "gradient bound": LowBound(),
    "alpha": WithoutUnit(),
}


# Models: the least squares of the template, and logistic regression where more is asked for.

right = template("model")


def model(of_fit=None, curved=None, **methods):
    """The right model with other methods in place of its own, of its fit and of its curvature."""
    curvature_type = type("Curved", (right.Curved,), curved or {})

    def curvature(self, rows, weights=None):
        return curvature_type(self, rows, np.ones(len(rows)) if weights is None else weights)

    fit_type = type("Fit", (right.Fit,), {"curvature": curvature, **(of_fit or {})})

    def made(self, theta, rows):
        return fit_type(theta, self.C)

    def fitted(self, rows, weights=None, start=None):
        return made(self, right.RightModel.fit(self, rows, weights).theta, rows)

    return type("Wrong", (right.RightModel,), {"fit": fitted, "restore": made, **methods})()


def fit_with(change):
    """fit(rows, weights, start), and then (its fit, rows, weights, start) ↦ what is given back."""

    def fitted(self, rows, weights=None, start=None):
        return change(right.RightModel.fit(self, rows, weights), rows, weights, start)

    return fitted


def no_weights(self, rows, weights=None, start=None):
    return right.RightModel.fit(self, rows)


def spend_weights(fit, rows, weights, start):
    if weights is not None:
        weights[...] = 1
    return fit


def two_classes_only(self, rows, weights=None, start=None):
    if rows.classes > 2:
        raise ValueError("too many")
    return right.RightModel.fit(self, rows, weights)


Curved = right.Curved
TWICE = {
    name: (lambda method: lambda self, *given: 2 * method(self, *given))(getattr(Curved, name))
    for name in ("dot", "dense", "diagonal", "dot_rows")
}


class OtherForms(BlamedForms):
    def leverage(self, rows, forms):
        return 2 * super().leverage(rows, forms)

    def loo_loss(self, rows, forms):
        return 2 * super().loo_loss(rows, forms)


class OtherCurvature(LogisticCurvature):
    def row_forms(self):
        return OtherForms(super().row_forms(), Blame("the forms"))

    def feature_slopes(self, rows, s):
        A, b = super().feature_slopes(rows, s)
        return A, b + 1

    def moved(self, step, index):
        return super().moved(2 * step, index)


class OtherFit(FittedLogistic):
    def curvature(self, rows, weights=None):
        return OtherCurvature(self, rows, weights)


@dataclass(frozen=True)
class WrongLogistic(LogisticRegression):
    def restore(self, theta, rows):
        return OtherFit(theta, rows.classes, float(self.C), self.fit_intercept)


logistic = WrongLogistic(C=1.0)
MODELS = {
    "config": Growing(),
    "fit": model(of_fit={"probabilities": lambda self, rows: np.full((len(rows), 2), 0.4)}),
    "new rows": model(
        of_fit={"losses": lambda self, rows: right.Fit.losses(self, rows) / len(rows)}
    ),
    "identity": model(
        curved={"penalty_product": lambda self, s: 2 * Curved.penalty_product(self, s)}
    ),
    "gradient": model(
        curved={"row_gradients": lambda self, rows: 1.001 * Curved.row_gradients(self, rows)}
    ),
    "hessian": model(curved=TWICE),
    "row products": model(curved={"gradient_norms": lambda self, rows: np.ones(len(rows))}),
    "operator": model(curved={"diagonal": lambda self: np.ones(self.size)}),
    "some rows": model(
        curved={"dot_rows": lambda self, V, i: Curved.dot_rows(self, V, i) * len(i) / self.rows}
    ),
    "solving": model(
        curved={
            "advice": lambda self: Advice(preconditioner="minus one"),
            "preconditioner": lambda self: lambda r: -r,
        }
    ),
    "refits": model(curved=TWICE),
    "weights": model(fit=no_weights),
    "warm start": model(fit=fit_with(lambda fit, rows, w, start: start or fit)),
    "restore": model(restore=lambda self, theta, rows: right.Fit(1.1 * theta, self.C)),
    "determinism": model(
        fit=fit_with(lambda fit, *_: replace(fit, theta=fit.theta + 1e-13 * np.random.rand()))
    ),
    "no mutation": model(fit=fit_with(spend_weights)),
    "sparse": model(
        fit=fit_with(lambda fit, rows, *_: replace(fit, theta=fit.theta * (1 + rows.X.sparse)))
    ),
    "another backend": model(fit=fit_with(lambda fit, rows, *_: rows.X.X is not None and fit)),
    "several classes": model(fit=two_classes_only),
    "shortcuts": model(rough=lambda self: type(self)(C=1e-9)),
    "leverage": logistic,
    "leave one out": logistic,
    "feature slopes": logistic,
    "moves": logistic,
}


# Data sets.

X = np.random.default_rng(0).standard_normal((30, 3))
Y = np.arange(30) % 2
COUNT = itertools.count()


@dataclass(frozen=True)
class WrongData:
    how: str = "right"
    path: str = ""

    def load(self) -> Any:
        return getattr(self, self.how)()

    def right(self):
        return X.copy(), Y

    def one_label(self):
        return X.copy(), np.zeros(30)

    def chance(self):
        return np.random.rand(30, 3), Y

    def shared(self):
        return X, Y

    def gone(self):
        raise FileNotFoundError("rows.bin")

    def fingerprint(self):
        return next(COUNT) if self.how == "right" else 0


DATASETS = {
    "config": Growing(),
    "load": WrongData("one_label"),
    "determinism": WrongData("chance"),
    "no sharing": WrongData("shared"),
    "here": WrongData("gone"),
    "fingerprint": WrongData("right"),
    "changed file": WrongData("one_label", path=str(Path(__file__))),
}

WRONG = {
    "backend": BACKENDS,
    "solver": SOLVERS,
    "sampler": SAMPLERS,
    "model": MODELS,
    "dataset": DATASETS,
}
