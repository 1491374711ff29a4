"""Components of a made-up package, each of which fails in one call and works in all others."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from problems import Bare

from uids.backends.numpy import Numpy, NumpyMatrix
from uids.models.logistic.curvature import LogisticCurvature
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.samplers.random import Random
from uids.samplers.sigmoid import Sigmoid
from uids.solvers import Advice
from uids.solvers.cg import CG


class Broken(RuntimeError):  # noqa: N818
    def __init__(self, call):
        super().__init__(f"no\n{call}")


class Handed:
    """A curvature that is no ``Curvature`` of uids, and hands all but its product on."""

    def __init__(self, curvature):
        self.curvature = curvature

    def __getattr__(self, name):
        return getattr(self.curvature, name)

    def dot(self, V):
        raise Broken("product")


class NoProduct(LogisticCurvature):
    def scored_dot(self, s, scores=None):
        raise Broken("product")


class NoNorms(LogisticCurvature):
    def gradient_norms(self, rows):
        raise Broken("norms")


class NoLeverage(LogisticCurvature):
    def row_forms(self):
        raise Broken("leverage")


class NoAdvice(LogisticCurvature):
    def advice(self):
        raise Broken("advice")


class NoPreconditioner(LogisticCurvature):
    def advice(self):
        return Advice(preconditioner="one that fails")

    def preconditioner(self):
        def apply(r):
            raise Broken("preconditioner")

        return apply


class NoDual(LogisticCurvature):
    def advice(self):
        return Advice(row_space=True)

    def dual(self):
        class Dual:
            def solve(self, g, goal, limit, start=None):
                raise Broken("dual")

        return Dual()


@dataclass(frozen=True)
class FaultyFit(FittedLogistic):
    """Fails in the call that it is told, or has a curvature that does."""

    call: str = ""

    def probabilities(self, rows):
        if self.call == "probabilities":
            raise Broken(self.call)
        return super().probabilities(rows)

    def losses(self, rows):
        if self.call == "losses":
            raise Broken(self.call)
        return super().losses(rows)

    def curvature(self, rows, weights=None):
        if self.call == "curvature":
            raise Broken(self.call)
        curvatures = {
            "handed": lambda *of: Handed(LogisticCurvature(*of)),
            "product": NoProduct,
            "norms": NoNorms,
            "leverage": NoLeverage,
            "advice": NoAdvice,
            "preconditioner": NoPreconditioner,
            "dual": NoDual,
        }
        return curvatures.get(self.call, LogisticCurvature)(self, rows, weights)


@dataclass(frozen=True)
class FaultyModel(LogisticRegression):
    call: str = ""

    def fit(self, rows, weights=None, start=None):
        if self.call == "fit" or (self.call == "start" and start is not None):
            raise Broken(self.call)
        fitted = super().fit(rows, weights, start)
        return FaultyFit(*astuple(fitted), self.call)


@dataclass(frozen=True)
class FaultySampler(Sigmoid):
    call: str = ""

    def probabilities(self, scores):
        if self.call == "probabilities":
            raise Broken(self.call)
        return super().probabilities(scores)

    def gradient_bound(self, scores):
        if self.call == "bound":
            raise Broken(self.call)
        return super().gradient_bound(scores)

    def alpha_unit(self, scores):
        if self.call == "unit":
            raise Broken(self.call)
        return 1.0


@dataclass(frozen=True)
class FaultySolver(CG):
    call: str = "solve"

    def solve(self, operator, g):
        if self.call == "solve":
            raise Broken(self.call)
        return {"none": None, "array": g}[self.call]


@dataclass(frozen=True)
class FaultyBackend:
    """With two products and no more."""

    call: str = "dot"

    def matrix(self, X):
        if self.call == "matrix":
            raise Broken(self.call)
        products = Bare(X)

        def fail(V):
            raise Broken(self.call)

        setattr(products, self.call, fail)
        return products


@dataclass(frozen=True)
class FaultyWholeBackend(Numpy):
    """With matrices of the full kind, made by subclassing."""

    call: str = "dot"

    def matrix(self, X):
        return FaultyMatrix(X, self.call)


class FaultyMatrix(NumpyMatrix):
    def __init__(self, X, call):
        super().__init__(X)
        self.call = call

    def like(self, X):
        return FaultyMatrix(X, self.call)

    def dot(self, V):
        if self.call == "dot":
            raise Broken("dot")
        return super().dot(V)

    def gram(self, w):
        if self.call == "gram":
            raise Broken("gram")
        return super().gram(w)

    def fingerprint(self):
        if self.call == "fingerprint":
            raise Broken("fingerprint")
        return super().fingerprint()


@dataclass(frozen=True)
class FaultyData:
    def load(self):
        raise Broken("load")


@dataclass(frozen=True)
class Leaving(Random):
    def probabilities(self, scores):
        raise SystemExit(3)
