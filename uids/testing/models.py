"""What is checked of a model: its fits, against definitions and refits."""

from __future__ import annotations

from unittest import SkipTest

import numpy as np

from uids.backends import Array, adopt
from uids.errors import ComponentError, UidsError
from uids.models import AdoptedFitted, AdoptedModel, Rows
from uids.registry import Chosen
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver
from uids.testing.adopted import is_continuous, predicted
from uids.testing.check import demand, near, same
from uids.testing.problems import TwoProducts, rows_of

N, D = 48, 4
START_C = 0.5  # for a model whose C is left open
STATIONARY = 1e-4  # ‖Σ∇l_i + ∇penalty‖ over Σ‖∇l_i‖, beyond which φ is noticeably off
ALIKE = 1e-4  # losses of two fits that have one optimum
STEP = 0.05  # change of a weight, by which refits show the slope; errors are of its square


def model_of(chosen: Chosen) -> AdoptedModel:
    model = AdoptedModel(chosen)
    return model.at_C(START_C) if isinstance(model.C, str) else model


def rows_for(chosen: Chosen, n: int = N, d: int = D, seed: int = 0, sparse: bool = False) -> Rows:
    """Two classes, or counts for a model of numbers."""
    return rows_of(n, d, 0 if is_continuous(chosen) else 2, seed, sparse)


def fit_of(chosen: Chosen) -> tuple[AdoptedModel, Rows, AdoptedFitted]:
    model, rows = model_of(chosen), rows_for(chosen)
    return model, rows, model.fit(rows)


def restorable(chosen: Chosen) -> AdoptedModel:
    model = model_of(chosen)
    if not model.restorable:
        raise SkipTest("it has no restore(theta, rows), by which its parameters could be moved")
    return model


def penalty_gradient(fitted: AdoptedFitted, rows: Rows) -> Array:
    """∇penalty(θ̂), from its products with the unit vectors."""
    curvature = fitted.curvature(rows)
    return np.array([curvature.penalty_product(e) for e in np.eye(curvature.size)])


def demand_stationary(
    fitted: AdoptedFitted, rows: Rows, what: str, weights: Array | None = None
) -> None:
    gradients = fitted.curvature(rows).row_gradients(rows)
    summed = gradients.sum(axis=1) if weights is None else gradients @ weights
    left = np.linalg.norm(summed + penalty_gradient(fitted, rows))
    relative = float(left / (np.linalg.norm(gradients, axis=0).sum() or 1.0))
    demand(
        relative <= STATIONARY,
        f"{what} is no optimum, or penalty_product is not that of its penalty: Σ∇l_i + ∇penalty is "
        f"{relative:.1e} of Σ‖∇l_i‖, not {STATIONARY:.0e}",
    )


def fit(chosen: Chosen) -> None:
    """Parameters, losses and probabilities of the right shape: finite, in [0, 1], with sum 1."""
    model, rows, fitted = fit_of(chosen)
    demand(np.isfinite(fitted.theta).all(), "the fitted parameters are not finite")
    losses, P = fitted.losses(rows), predicted(fitted, rows)
    demand(losses.shape == (N,), f"losses(rows) has the shape {losses.shape}, not {(N,)}")
    demand(np.isfinite(losses).all(), "losses(rows) has entries that are not finite")
    if rows.classes:
        demand(P.shape == (N, 2), f"probabilities(rows) has the shape {P.shape}, not {(N, 2)}")
        demand(((P >= 0) & (P <= 1)).all(), "probabilities(rows) has entries outside [0, 1]")
        near(P.sum(axis=1), np.ones(N), "the sum of the probabilities of a row", 1e-9)
        mean = float(P[np.arange(N), rows.y].mean())
        demand(
            mean > 0.5,
            f"the training labels have a probability of {mean:.2f} in the mean, less than a guess: "
            "column k of the probabilities is that of class k",
        )
    else:
        demand(P.shape == (N,), f"predictions(rows) has the shape {P.shape}, not {(N,)}")
        demand(np.isfinite(P).all(), "predictions(rows) has entries that are not finite")
    other = model.fit(Rows(rows.X, rows.y.max() - rows.y, rows.classes))
    demand(
        losses.mean() < other.losses(rows).mean(),
        "a fit to the labels has no lower loss on them than a fit to their opposite",
    )


def new_rows(chosen: Chosen) -> None:
    """Losses and probabilities of some rows, and of one, are those rows' own."""
    _, rows, fitted = fit_of(chosen)
    losses, P = fitted.losses(rows), predicted(fitted, rows)
    for index in (np.array([7, 3, 3, 20]), np.array([5])):
        some, of = rows.take(index), f"of {len(index)} rows"
        near(fitted.losses(some), losses[index], f"losses(rows) {of}", 1e-9)
        near(predicted(fitted, some), P[index], f"what is predicted {of}", 1e-9)


def identity(chosen: Chosen) -> None:
    """The fit is an optimum: the gradients of its rows and of its penalty add up to 0."""
    _, rows, fitted = fit_of(chosen)
    demand_stationary(fitted, rows, "fit(rows)")


def weights(chosen: Chosen) -> None:
    """A weight of 2 is a row twice, one of 0 no row; all weights doubled are C doubled."""
    model, rows, _ = fit_of(chosen)
    omega = np.ones(N)
    omega[10:14], omega[20:24] = 2, 0
    fitted = model.fit(rows, omega)
    demand_stationary(fitted, rows, "fit(rows, weights)", omega)
    repeated = np.repeat(np.arange(N), omega.astype(int))
    twice = model.fit(rows.take(repeated), start=fitted)
    near(
        fitted.losses(rows),
        twice.losses(rows),
        "the losses after fit(rows, weights), compared with those of rows that are repeated,",
        ALIKE,
    )
    if isinstance(model.C, float | int) and np.isfinite(model.C):
        doubled = model.fit(rows, np.full(N, 2.0), start=fitted)
        looser = model.at_C(2 * model.C).fit(rows, start=doubled)
        near(
            doubled.losses(rows),
            looser.losses(rows),
            "the losses where all weights are 2, compared with those at twice the C,",
            ALIKE,
        )


def warm_start(chosen: Chosen) -> None:
    """A fit that starts from its own optimum stays there, and from another's it finds its own."""
    model, rows, fitted = fit_of(chosen)
    again = model.fit(rows, start=fitted)
    near(again.losses(rows), fitted.losses(rows), "losses after fit(rows, start=its fit)", ALIKE)
    other = model.fit(rows.take(np.arange(0, N, 2)))
    demand_stationary(model.fit(rows, start=other), rows, "fit(rows, start=a fit to other rows)")


def restore(chosen: Chosen) -> None:
    """restore(theta, rows) is the fit that theta came from."""
    model, rows = restorable(chosen), rows_for(chosen)
    fitted = model.fit(rows)
    again = model.restore(fitted.theta.copy(), rows)
    same(again.theta, fitted.theta, "restore(theta, rows).theta is not the theta given to it")
    near(again.losses(rows), fitted.losses(rows), "losses of the restored fit", 1e-12)
    P = predicted(fitted, rows)
    near(predicted(again, rows), P, "what the restored fit predicts", 1e-12)
    H = fitted.curvature(rows).dense()
    near(again.curvature(rows).dense(), H, "the Hessian of the restored fit", 1e-12)


def determinism(chosen: Chosen) -> None:
    """The same rows give the same parameters, bit by bit."""
    np.random.seed(6)
    _, _, fitted = fit_of(chosen)
    np.random.seed(7)  # whoever asks the global generator gets other numbers
    _, _, again = fit_of(chosen)
    same(again.theta, fitted.theta, "the parameters differ from one fit to the next")


def no_mutation(chosen: Chosen) -> None:
    """Neither the labels, the weights nor the parameters of a start are changed."""
    model, rows, fitted = fit_of(chosen)
    y, omega, theta = rows.y.copy(), np.linspace(0.5, 1.5, N), fitted.theta.copy()
    held = omega.copy()
    model.fit(rows, omega, start=fitted)
    curvature = fitted.curvature(rows, omega)
    curvature.dot(curvature.gradient(rows))
    same(rows.y, y, "rows.y is changed")
    same(omega, held, "the weights are changed")
    same(fitted.theta, theta, "the parameters of start are changed by a later fit")


def sparse(chosen: Chosen) -> None:
    """X as CSR gives the same fit; a model of dense data refuses it by a UidsError."""
    model, rows, fitted = fit_of(chosen)
    other = rows_for(chosen, sparse=True)
    again = fitted_or_refused(model, other, "it takes no sparse data")
    demand_alike(again, other, fitted, rows, "for X as CSR")


def another_backend(chosen: Chosen) -> None:
    """X through a backend that has two products only gives the same fit."""
    model, rows, fitted = fit_of(chosen)
    other = Rows(adopt(TwoProducts(), rows.X.fetch()), rows.y, rows.classes)
    demand_alike(model.fit(other), other, fitted, rows, "through another backend")


def demand_alike(
    again: AdoptedFitted, other: Rows, fitted: AdoptedFitted, rows: Rows, how: str
) -> None:
    near(again.losses(other), fitted.losses(rows), f"losses(rows) {how}", ALIKE)
    H = fitted.curvature(rows).dense()
    near(again.curvature(other).dense(), H, f"the Hessian {how}", ALIKE)


def fitted_or_refused(model: AdoptedModel, rows: Rows, what: str) -> AdoptedFitted:
    """A model need not take everything; what it does not take it says in a sentence."""
    try:
        return model.fit(rows)
    except ComponentError:
        raise
    except UidsError as error:
        raise SkipTest(f"{what}: {error}") from error


def several_classes(chosen: Chosen) -> None:
    """Three classes have three probabilities; a model of two refuses them by a UidsError."""
    if is_continuous(chosen):
        raise SkipTest("it is a model of numbers")
    model, rows = model_of(chosen), rows_of(N, D, classes=3)
    fitted = fitted_or_refused(model, rows, "it takes no three classes")
    P = fitted.probabilities(rows)
    demand(P.shape == (N, 3), f"probabilities of three classes have the shape {P.shape}")
    near(P.sum(axis=1), np.ones(N), "the sum of the probabilities of three classes", 1e-9)
    demand_stationary(fitted, rows, "a fit to three classes")


def refits(chosen: Chosen) -> None:
    """φ_i / n is how the validation loss changes with the weight of row i: by fits again."""
    model, rows, fitted = fit_of(chosen)
    judges = rows_for(chosen, 20, seed=9)
    curvature = fitted.curvature(rows)
    if not curvature.exact:
        raise SkipTest("it says that its H is not the Hessian itself (exact is false)")
    phi = influence_at(curvature, rows, judges, adopt_solver("direct")).phi
    largest = np.argsort(-np.abs(phi))[:3]
    slopes = []
    for i in largest:
        change = []
        for step in (STEP, -STEP):
            omega = np.ones(N)
            omega[i] += step
            change.append(model.fit(rows, omega, start=fitted).losses(judges).sum())
        slopes.append(N * (change[0] - change[1]) / (2 * STEP))
    near(phi[largest], np.array(slopes), "φ of the rows of most influence, against refits,", 1e-2)


def shortcuts(chosen: Chosen) -> None:
    """rough() is nearly as good a fit, and untrained(rows) has as many parameters."""
    model, rows, fitted = fit_of(chosen)
    rough, best = model.rough().fit(rows).losses(rows).mean(), fitted.losses(rows).mean()
    demand(
        rough <= best * 1.01 + 1e-6,
        f"a rough() fit has a mean loss of {rough:.4g}, and the fit itself one of {best:.4g}",
    )
    before = model.untrained(rows)
    if before is not None:
        shape, right = before.theta.shape, fitted.theta.shape
        demand(shape == right, f"untrained(rows) has parameters of shape {shape}, not {right}")
